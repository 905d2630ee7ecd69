// template_files.h: the files of some template folders, with names filled in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::kit {

/// "ID" -> "acme.fast": what stands for @ID@ in a template's text.
using Values = std::map<std::string, std::string, std::less<>>;

struct FilledFile {
  std::string name;  // below the project's folder, "src/matmul.c"
  std::string text;
  bool is_program = false;
};

/// The files below the layers, each a folder, in the order of their names. A file _NAME.md is no
/// file of the project: its text is the value of @NAME@. Layers must not have a name in common.
/// Fails NOT_FOUND (a layer that is not there), CORRUPT (a name twice, a @NAME@ without a value).
Result<std::vector<FilledFile>> fill_templates(const std::vector<std::string>& layers,
                                               Values values);

/// The text with each @NAME@ replaced, NAME being of A-Z and _. Values are filled in too, one
/// level deep.
Result<std::string> fill(const std::string& text, const Values& values);

}  // namespace plumbline::kit
