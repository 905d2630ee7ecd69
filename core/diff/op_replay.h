// op_replay.h: both sides run again up to one op and are held there, to ask why they differ.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/diff/evidence.h"
#include "core/diff/side.h"
#include "core/trace/recording.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// What both sides are run on again.
struct Replay {
  std::span<const int32_t> prompt;
  std::span<const int32_t> generated;
  bool all_rows = false;
  /// What A left; where it is empty, A is run and recorded when an op is first visited.
  trace::Recording* of_a = nullptr;
  const std::atomic<bool>* cancel = nullptr;
};

/// Calls visit with the evidence of the op in the forward that computes the position: B has A's
/// inputs. Not called where the two sides cut the prompt into other pieces, or where B lacks the
/// op. Fails as the sides do.
Result<void> visit_op(Side& a, Side& b, const Replay& replay, const std::string& op,
                      uint32_t position, const std::function<void(OpEvidence&)>& visit);

}  // namespace plumbline::diff
