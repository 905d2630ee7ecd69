// in_step.h: A, B on A's inputs and B on its own, op by op side by side: whatever is compared is
// still where the op left it, and nothing has to be kept.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/diff/op_comparison.h"
#include "core/diff/side.h"
#include "core/model/forward.h"
#include "core/trace/recording.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

class InStep {
 public:
  struct Options {
    bool runs_freely = true;  // B also on its own
    bool all_rows = false;  // logits of each id
    const std::atomic<bool>* cancel = nullptr;
  };
  /// Rows of A's and of B's logits at a position.
  using OnLogits =
      std::function<void(uint32_t position, std::span<const float> a, std::span<const float> b)>;

  /// Makes room for a second state of B. Fails as that does.
  static Result<std::unique_ptr<InStep>> begin(Side& a, Side& b, const Options& options);

  /// False: A is recorded in front of each forward, since its ops are others than B's, or a foreign
  /// engine's.
  bool is_in_step() const { return a_.decoder != nullptr; }
  /// Runs all on the ids. A NUMERIC error ends the run of the one that had it, and is kept.
  Result<void> forward(std::span<const int32_t> ids, OpComparison& comparison,
                       const OnLogits& on_logits);

  /// Where the last forward was of one id, runs that once more, as a run does that nobody watches:
  /// its ops in lists. For more ids that would cost too much. "A", "B", "A and B": whose logits
  /// then have other bits; or empty.
  Result<std::string> with_other_bits_in_lists();

  /// Why the first rows that an eviction moved, and that differ, do so.
  struct MovedCause {
    std::string op;  // of the cache
    Cause cause;
  };
  const std::optional<MovedCause>& moved_cause() const { return moved_cause_; }

  /// A's logits of the last id, valid until the next forward; empty: it failed.
  std::span<const float> logits_of_a() const { return logits_of_a_; }
  const std::string& failure_of_a() const { return a_.failure; }
  /// Of its own run, else of the one on A's inputs.
  const std::string& failure_of_b() const {
    return free_.failure.empty() ? forced_.failure : free_.failure;
  }
  /// What A left where it could not run in step; else empty.
  trace::Recording& recording() { return recording_; }

 private:
  struct Run {
    model::Decoder* decoder = nullptr;  // null: there is none
    std::optional<model::Forward> forward = {};
    bool is_at_op = false;
    std::string failure = {};
    std::vector<float> last_logits = {};  // of a forward of one id; else empty

    /// At its next op with an output. False: it is at its end, or has failed.
    Result<bool> advance();
    std::span<const float> logits() const {
      return is_at_op ? forward->logits() : std::span<const float>();
    }
  };

  InStep(Side& a, Side& b, const Options& options) : side_a_(&a), side_b_(&b), options_(options) {}
  Result<void> record(std::span<const int32_t> ids);
  void start(std::span<const int32_t> ids);
  Result<RowsOfA> rows_of_a();
  Result<void> compare_op(OpComparison& comparison);
  void compare_logits(const OnLogits& on_logits);
  Result<bool> has_other_bits_in_lists(Run& run);
  /// Of a cache whose rows the eviction in front of this chunk moved.
  Result<void> explain_moved(const RowsOfA& rows);
  /// Ids whose rows went: what the index of a row lacks to its id's place in the stream.
  uint32_t n_evicted() const;

  Side *side_a_, *side_b_;
  Options options_;
  ThreadPool* pool_ = nullptr;
  Run a_, forced_, free_;
  uint32_t n_fed_ = 0;  // ids, before the forward that runs
  uint32_t n_ids_ = 0;  // of the last forward
  int32_t last_id_ = 0;
  size_t n_vocab_ = 0;
  trace::Recording recording_;
  std::span<const float> recorded_logits_;
  uint32_t recorded_position_ = 0;  // of the first of them
  std::span<const float> logits_of_a_;
  std::optional<MovedCause> moved_cause_;
  // Of A's op.
  std::vector<float> values_;
  std::vector<int32_t> kv_positions_;
};

}  // namespace plumbline::diff
