// page_shell.h: what every page of this room is made in.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace plumbline::report {

struct PageParts {
  std::string title;
  std::string without_script;  // a sentence for browsers that run none
  nlohmann::ordered_json data;  // what the script shows
  std::string_view script;
};

/// A whole page that needs no network and no file beside it. Nothing in the data, however it is
/// written, becomes a part of the page but text. title and without_script: this project's own
/// words.
std::string page_with(const PageParts& parts);

}  // namespace plumbline::report
