// op_selection.h: which ops of a model a trace is asked for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/op_info.h"
#include "plumb/sdk/result.h"

namespace plumbline::trace {

/// `*` is any text, `?` any byte; everything else is itself.
bool matches(std::string_view pattern, std::string_view text);

struct OpSelection {
  std::vector<std::string> patterns;  // any of them; none: every op
  struct Layers {
    uint32_t first = 0, last = 0;
  };
  std::vector<Layers> layers;  // any of them; none: every layer, and what is outside the layers
};

/// The ops that are asked for, in order; never those without a readable output (quantize).
/// Fails INVALID_ARGUMENT for a pattern or a layer range that meets no op (names the nearest), and
/// where the two together leave none.
Result<std::vector<const model::OpInfo*>> select_ops(std::span<const model::OpInfo* const> ops,
                                                     const OpSelection& selection);

}  // namespace plumbline::trace
