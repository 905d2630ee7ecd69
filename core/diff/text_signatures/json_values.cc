#include "core/diff/text_signatures/json_values.h"

#include <utility>

namespace plumbline::diff {

using Json = nlohmann::ordered_json;

const Json* member_of(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_at(const Json& object, const char* key, std::string fallback) {
  const Json* const member = member_of(object, key);
  return member != nullptr && member->is_string() ? member->get<std::string>()
                                                  : std::move(fallback);
}

bool flag_at(const Json& object, const char* key, bool fallback) {
  const Json* const member = member_of(object, key);
  return member != nullptr && member->is_boolean() ? member->get<bool>() : fallback;
}

}  // namespace plumbline::diff
