// page_text.h: the style and the scripts of the pages, as they stand in page/.
#pragma once

#include <string_view>

namespace plumbline::report {

extern const std::string_view kPageStyle;
extern const std::string_view kDiffScript;
extern const std::string_view kQuantisationScript;

}  // namespace plumbline::report
