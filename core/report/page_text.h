// page_text.h: the style and the script of the page, as they stand in page/.
#pragma once

#include <string_view>

namespace plumbline::report {

extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;

}  // namespace plumbline::report
