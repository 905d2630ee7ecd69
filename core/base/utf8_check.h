// utf8_check.h: is a text well-formed UTF-8?
#pragma once

#include <cstddef>
#include <string_view>

namespace plumbline {

/// The index of the first byte that is no part of a well-formed sequence; npos if there is none.
/// Source: The Unicode Standard, table 3-7 (no surrogates, no overlong forms, nothing above
/// U+10FFFF).
size_t first_ill_formed_utf8(std::string_view text);

}  // namespace plumbline
