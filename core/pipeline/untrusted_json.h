// untrusted_json.h: JSON that came from outside.
#pragma once

#include <string_view>

#include "core/pipeline/messages.h"

namespace plumbline::pipeline {

inline constexpr int kJsonDepthMax = 128;

/// Fails INVALID_ARGUMENT, with the line and the column, where text is no JSON; where it is nested
/// deeper than depth_max levels, for the JSON library copies and writes by recursion; and where an
/// object has more than 4,096 keys, for an ordered object is searched through for each.
Result<OrderedJson> parse_untrusted(std::string_view text, int depth_max = kJsonDepthMax);

}  // namespace plumbline::pipeline
