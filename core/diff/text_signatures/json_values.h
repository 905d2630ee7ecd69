// json_values.h: members of JSON that others wrote: what has another type than expected counts as
// absent.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace plumbline::diff {

/// Null where `object` is no object or has no such member.
const nlohmann::ordered_json* member_of(const nlohmann::ordered_json& object, const char* key);
std::string text_at(const nlohmann::ordered_json& object, const char* key,
                    std::string fallback = "");
bool flag_at(const nlohmann::ordered_json& object, const char* key, bool fallback);

}  // namespace plumbline::diff
