#include "source.h"

#include <string>

#include "catalogue.h"
#include "plumb/sdk/abi.h"

namespace plumbline::sources::packages {
namespace {

plumb_str PLUMB_CALL model_at(uint32_t index) {
  return index < models().size() ? to_abi(models()[index].name) : plumb_str{};
}

plumb_status PLUMB_CALL recipe(plumb_str name, plumb_str* json, plumb_error* error) {
  return guarded(error, [&] {
    std::string names;
    for (const Model& model : models()) {
      if (model.name == to_view(name)) {
        *json = to_abi(model.recipe_json);
        return PLUMB_OK;
      }
      names += (names.empty() ? "" : ", ") + std::string(model.name);
    }
    return fail(error, PLUMB_NOT_FOUND,
                "model \"" + to_string(name) + "\", expected one of " + names);
  });
}

constexpr plumb_model_source kSource = {
    .struct_bytes = sizeof(plumb_model_source),
    .reserved = 0,
    .model_at = model_at,
    .recipe = recipe,
};

}  // namespace

const plumb_model_source& source_table() {
  return kSource;
}

}  // namespace plumbline::sources::packages
