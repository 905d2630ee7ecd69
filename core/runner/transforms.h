// transforms.h: what makes a row of a foreign engine's tensor a row of ours.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/config_tree.h"
#include "plumb/sdk/result.h"

namespace plumbline::runner {

/// Numbers of the model that a map may name: n_heads, n_heads_kv, head_width, ...
using Sizes = std::map<std::string, uint32_t, std::less<>>;

/// One step, its numbers already those of a model.
struct Transform {
  enum class Kind {
    /// {heads: H}: each head's channels from half order, pairs (i, i + C/2), to neighbours,
    /// (2i, 2i + 1), as GGUF stores llama's Q and K.
    kHalfToInterleaved,
    /// {heads: H}: the other way.
    kInterleavedToHalf,
    /// {by: NUMBER}: every value times it.
    kScale,
    /// {by: NUMBER}: every value plus it, as of norms stored without their 1.
    kOffset,
    /// {widths: [...], take: N, groups: G}: G equal pieces of a row (1 if left out), each cut in
    /// the ratio of widths; the N-th part of each. For fused QKV and gate-up.
    kSplit,
  };

  Kind kind;
  uint32_t n_pieces = 1;  // heads or groups
  uint32_t in_width = 0;  // values of a piece
  uint32_t first = 0;  // kSplit: the part that is taken of a piece
  uint32_t width = 0;
  float by = 0;

  uint32_t row_width() const { return n_pieces * width; }
};

/// One step as a map states it: `name` or `name: {parameters}`, for rows of this width.
/// Fails INVALID_CONFIG with the place in the map.
Result<Transform> make_transform(const config::Value& step, uint32_t width, const Sizes& sizes);

/// in f32[n_pieces * in_width], out f32[row_width()]; they may not overlap.
void apply(const Transform& transform, std::span<const float> in, std::span<float> out);

}  // namespace plumbline::runner
