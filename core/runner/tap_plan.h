// tap_plan.h: the tensors that one forward asks for, and the way from them to rows of our ops.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/os/child.h"
#include "core/runner/op_map.h"
#include "core/runner/wire.h"
#include "core/trace/recording.h"
#include "plumb/sdk/result.h"

namespace plumbline::runner {

/// The tensor that every answer starts with; a map may name it like a tap.
inline constexpr const char* kLogits = "logits";

/// Rows of one tensor, the last n_rows of a forward's.
struct TapRows {
  uint32_t n_rows = 0;
  std::vector<float> values;
};

class TapPlan {
 public:
  /// ops must outlive the plan. n_ids of the forward, n_rows of them with logits f32[V].
  TapPlan(std::vector<const MappedOp*> ops, uint32_t n_ids, uint32_t n_rows, uint32_t n_vocab);

  /// What to ask for beside the logits, each once.
  std::vector<std::string> tap_names() const;
  /// The most values that an answer may have.
  uint64_t values_max() const;

  /// Reads an answer's tensors. All heads are checked before the first value is read, so that an
  /// answer is never larger than the question. Fails CORRUPT, and as Wire does.
  Result<void> read(Wire& wire, const std::vector<TensorHead>& heads, const os::Deadline& deadline);
  /// f32[n_rows,V], once they were read.
  const TapRows& logits() const { return given_[0]; }
  /// The ops' rows, the last of them at position end - 1.
  Result<void> record(uint32_t end, trace::Recording& recording) const;

 private:
  std::vector<const MappedOp*> ops_;
  uint32_t n_ids_;
  std::vector<TapInfo> taps_;  // [0]: the logits
  std::map<std::string_view, size_t> index_;
  std::vector<TapRows> given_;  // beside taps_
};

}  // namespace plumbline::runner
