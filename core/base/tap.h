// tap.h: what an observer sees between two groups of ops. The model declares it; traces and diffs
// implement it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace plumbline {

/// The output of one op of one step.
struct Tap {
  std::string_view op;  // "3.attn_q_rope"
  int32_t layer;  // -1: outside the layers
  uint32_t first_position;  // of the first row
  uint32_t n_rows;  // T
  uint32_t width;  // values in a row
};

class TapSink {
 public:
  virtual ~TapSink() = default;
  /// Asked before anything is read. False costs nothing.
  virtual bool wants(std::string_view op, int32_t layer) = 0;
  /// values f32[T,width], borrowed until return.
  virtual void give(const Tap& tap, std::span<const float> values) = 0;
};

}  // namespace plumbline
