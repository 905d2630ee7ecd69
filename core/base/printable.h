// printable.h: texts of others, fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace plumbline {

/// With '?' for each character that a terminal may obey: control characters (U+0000 to U+001F but
/// those in kept, U+007F to U+009F) and those that turn the direction of writing.
std::string printable(std::string_view text, std::string_view kept = "");

}  // namespace plumbline
