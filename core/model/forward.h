// forward.h: one forward of a decoder, op by op, in the hands of whoever wants to do something
// between two ops: run another decoder in step with it, for one.
//
//   model::Forward forward(decoder, ids, model::Forward::Rows::kLast);
//   for (;;) {
//     PLUMB_ASSIGN(const bool goes_on, forward.next());
//     if (!goes_on) break;
//     look_at(forward.site());
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/model/op_observer.h"
#include "core/model/program.h"
#include "plumb/sdk/result.h"

namespace plumbline::model {

class Decoder;
class Sequence;

/// While it lives its decoder has no other forward. Taken down before its end, or after a failure,
/// it leaves the caches as they were before it, less what a window evicted to make room.
class Forward {
 public:
  /// Whose logits the head computes: the last id's, or each id's.
  enum class Rows { kLast, kAll };

  /// Of the decoder's own sequence, or another. The ids must outlive it. pool: null: the decoder's
  /// own; or another of as many threads, which decoders in step share, since the workers of two
  /// would be in each other's way.
  Forward(Decoder& decoder, std::span<const int32_t> ids, Rows rows, ThreadPool* pool = nullptr);
  Forward(Decoder& decoder, Sequence& sequence, std::span<const int32_t> ids, Rows rows,
          ThreadPool* pool = nullptr);
  ~Forward();
  Forward(const Forward&) = delete;
  Forward& operator=(const Forward&) = delete;

  /// Runs one op, with what the host has to do in front of it. False: it is over. Fails as
  /// Decoder::forward does.
  Result<bool> next();
  /// The op that next() ran; valid until the next call.
  OpSite& site() { return *site_; }

  /// Once next() ran the last op of the head: f32[n,V] of the ids from logits_position() on, valid
  /// until the next call. Before that: empty.
  std::span<const float> logits() const { return logits_; }
  uint32_t logits_position() const { return first_position_; }

  // ---- For Decoder::forward, which has nothing to do between two ops.

  /// Makes the next list of ops ready: of some ids, or of the head for some rows. False: it is
  /// over.
  Result<bool> begin_part();
  /// Runs the list that is ready.
  Result<void> run_part(OpObserver* observer);

 private:
  Result<void> end_part();

  Decoder* decoder_;
  Sequence* sequence_;
  ThreadPool* pool_;
  std::span<const int32_t> ids_;  // that have not begun
  Rows rows_;
  uint32_t n_chunk_ = 0;  // ids that are at work
  uint32_t head_first_ = 0, n_head_left_ = 0;  // rows of theirs that the head has to do
  uint32_t n_head_ = 0;  // rows that it does; 0: the body runs
  uint32_t first_position_ = 0;
  Program* part_ = nullptr;
  Program::Cursor at_;
  std::optional<OpSite> site_;
  std::span<const float> logits_;
  bool is_checked_ = false, is_over_ = false;
};

}  // namespace plumbline::model
