// catalogue.h: the models that this source knows, as recipes of plumb.model_source/1.
#pragma once

#include <span>
#include <string_view>

namespace plumbline::sources::packages {

struct Model {
  std::string_view name;
  std::string_view recipe_json;
};

std::span<const Model> models();

}  // namespace plumbline::sources::packages
