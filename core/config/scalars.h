// scalars.h: what a scalar's text means.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "core/config/config_tree.h"
#include "core/config/pipeline_config.h"

namespace plumbline::config {

/// A decimal integer in 64 bits, written without quotes, sign or separators.
std::optional<uint64_t> as_integer(const Value& value);

/// true or false, written without quotes.
std::optional<bool> as_switch(const Value& value);

/// "all", "3" or "3-5" with the first not above the last.
std::optional<LayerRange> as_layers(std::string_view text);

bool is_name(std::string_view text);
bool is_sha256(std::string_view text);

/// A free value as JSON, its scalars by YAML 1.2's core schema (null, true, 12, 0x1f, 0.5, else
/// text); empty for a number that JSON cannot say (.inf, .nan).
std::optional<nlohmann::json> as_json(const Value& value);

}  // namespace plumbline::config
