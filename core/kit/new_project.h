// new_project.h: a plugin author's project, out of the templates of the kit.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::kit {

/// What the author chooses.
struct ProjectRequest {
  std::string kind;  // "kernels"
  std::string language;  // "c++"
  std::string id;  // "acme.fast"
  std::string license = "NOASSERTION";  // SPDX's word for: not said
  std::string folder;  // where it is made; absent, or an empty folder
};

/// Where things lie that are installed with the program.
struct KitPlaces {
  std::string kit;  // the folder that holds templates/
  std::string rust_sdk;  // the package plumb, for Cargo.toml
  std::string python_sdk;  // the folder of plumb_runner.py
  std::string version;  // of Plumbline
};

/// A kind of plugin and a language that it can be written in.
struct Offer {
  std::string_view kind;
  std::string_view language;
};

/// Those that there are templates for, in a fixed order.
std::vector<Offer> offers(const KitPlaces& places);

/// Writes the whole project, or nothing; gives the files' names, in order.
/// Fails INVALID_ARGUMENT (an id that no plugin may have, a license that is no SPDX expression, no
/// template for kind and language: names those there are), NOT_FOUND (the folder is in use, a
/// template or the disk fails).
Result<std::vector<std::string>> new_project(const KitPlaces& places,
                                             const ProjectRequest& request);

}  // namespace plumbline::kit
