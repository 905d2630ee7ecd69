// decoder.h: a loaded model: ids in, logits out, with the KV caches of one sequence or several.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/model/backend.h"
#include "core/model/hyper_parameters.h"
#include "core/model/kv_window.h"
#include "core/model/model_file.h"
#include "core/model/op_observer.h"
#include "core/model/placement.h"
#include "core/model/program.h"
#include "core/model/sequence.h"

namespace plumbline::model {

struct Graph;
class Batch;
class Weights;

struct DecoderOptions {
  std::vector<Backend*> backends;  // [0] runs everything that no override names
  std::vector<Override> overrides;
  plumb_format activations = PLUMB_ACT_Q8;
  plumb_format kv_format = PLUMB_F32;
  uint32_t context_rows = 0;  // S; 0: what the model was trained for, at most 4096
  uint32_t chunk_rows = 512;  // most ids of one pass over the weights
  WindowOptions window = {};  // what goes when all rows of a sequence are taken
  /// Keep keys as they are before RoPE, in the host's memory, so that remove_rows can give those
  /// that move the very bits of their new positions. A window that evicts does so by itself.
  bool keeps_keys = false;
  uint64_t kv_budget_bytes = UINT64_MAX;  // of a sequence's caches
};

/// One sequence's share of a step.
struct SequenceIds {
  Sequence* sequence;
  std::span<const int32_t> ids;
  std::span<const float> logits = {};  // f32[V] of the last id, once the step is done
};

/// One call at a time, whatever sequence it is for.
class Decoder {
 public:
  /// Reads hyper-parameters, builds the graph, prepares the weights. The file, the backends and the
  /// pool must outlive the decoder. Fails UNSUPPORTED (what is missing), CORRUPT (what is wrong in
  /// the file), INVALID_CONFIG (an override or a window that does not fit), INVALID_ARGUMENT
  /// (caches above the budget), and as the backend does where there is no memory for the caches,
  /// before any weight is read.
  static Result<std::unique_ptr<Decoder>> create(const ModelFile& file, ThreadPool& pool,
                                                 const DecoderOptions& options);
  ~Decoder();
  /// Another decoder on the same prepared weights, with caches and activations of its own, on which
  /// it can run in step with this one. Neither of the two may be in use by two threads at once, nor
  /// both. The first must outlive it.
  Result<std::unique_ptr<Decoder>> twin();

  const HyperParameters& hyper_parameters() const { return hp_; }
  /// Of each sequence.
  uint32_t capacity_rows() const { return capacity_rows_; }
  uint32_t chunk_rows() const { return chunk_rows_; }
  plumb_format kv_format() const { return options_.kv_format; }
  bool keeps_keys() const { return plan_.keeps_keys; }
  const WindowOptions& window_options() const { return options_.window; }
  ThreadPool& pool() const { return *pool_; }

  // ---- The sequence that every decoder has

  Sequence& sequence() { return *sequences_.front(); }
  const Sequence& sequence() const { return *sequences_.front(); }
  /// Rows of its KV caches that hold ids.
  uint32_t n_past() const { return sequence().n_past(); }

  /// Appends ids and returns the logits of the last one, f32[V], valid until the next call.
  /// Fails INVALID_ARGUMENT (no ids, an id outside the vocabulary, no room), NUMERIC (names the
  /// op); after a failure the caches hold what they held before, less what a window evicted.
  Result<std::span<const float>> forward(std::span<const int32_t> ids);
  /// As forward, but every row's logits are handed over, in order: f32[V] each, borrowed until
  /// return.
  using RowSink = std::function<void(uint32_t position, std::span<const float> logits)>;
  Result<void> forward_all(std::span<const int32_t> ids, const RowSink& sink);

  /// As Sequence::truncate.
  Result<void> truncate(uint32_t n_rows) { return sequence().truncate(n_rows); }

  // ---- Several sequences

  /// With caches of its own, of the same capacity and window; Sequence::truncate and rewind take
  /// back what it was fed. Fails as the backend does where there is no memory. destroy_sequence
  /// ends it, else the decoder does.
  Result<Sequence*> create_sequence();
  void destroy_sequence(Sequence& sequence);

  /// Appends ids to each of several sequences, in passes over the weights that they share, and puts
  /// the logits of each one's last id into its place, valid until the next call. Bits are those of
  /// each sequence alone. Allocates nothing, once as many took part before.
  /// Fails INVALID_ARGUMENT as forward does, before anything runs, with the sequence named, also
  /// for one that is listed twice; NUMERIC (names the op, not the sequence: only each alone can
  /// tell); after a failure all caches hold what they held before, as after forward.
  /// With an observer the sequences run one after the other, in the order of the list.
  Result<void> step(std::span<SequenceIds> parts);

  /// Rows go, those behind them move down and are from then on what they would be if their ids had
  /// stood there: keys get the bits that RoPE gives at the new position. What layers behind the
  /// first had taken in from the rows that went stays in the others. Fails INVALID_ARGUMENT (rows
  /// that it does not hold; a decoder that keeps no keys), and as the backend does: then the rows
  /// in front of `rows` are left.
  Result<void> remove_rows(Sequence& sequence, RowRange rows);

  // ---- Around a forward

  /// Null: none. The same logits come out either way.
  void set_observer(OpObserver* observer) { observer_ = observer; }
  /// Null, or a flag that ends a running forward between two ops: it then fails CANCELLED.
  void set_cancel(const std::atomic<bool>* cancel) { cancel_ = cancel; }
  const ProgramCounters& counters() const { return counters_; }
  /// Bytes of the file's tensors that one token reads: all of the body, and the head; of an untied
  /// embedding one row.
  uint64_t weight_bytes_per_token() const { return weight_bytes_per_token_; }
  /// Bytes of K and V that one id adds, over all layers, and of its un-rotated keys.
  uint64_t kv_bytes_per_row() const;
  /// The ops in order, body then head; valid as long as the decoder.
  std::vector<const OpInfo*> ops() const;
  /// Values of one row of an op's output; 0 of a quantize op.
  uint32_t output_width(const OpInfo& op) const {
    return op.output == kNoValue ? op.kv_width : values_.width(op.output);
  }
  /// True for the ops behind the last layer: forward runs them for its last row alone.
  bool is_in_head(const OpInfo& op) const;

 private:
  friend class Batch;
  friend class Forward;

  Decoder(const ModelFile& file, HyperParameters hp, ThreadPool& pool, DecoderOptions options);
  Result<void> build(Weights& weights);
  void plan_caches(bool keeps_keys);
  Result<void> check_ids(const Sequence& sequence, std::span<const int32_t> ids) const;
  // Rows that are free in the sequence; a window that is full evicts first.
  Result<uint32_t> make_room(Sequence& sequence);
  // Make a list of ops ready: of ids of some sequences, at most chunk_rows_ in all, or of the head
  // for rows of theirs, at most head_rows_.
  Result<Program*> begin_chunk(std::span<const SequenceIds> parts);
  Program& begin_head(uint32_t chunk_row, uint32_t n_rows);
  /// Logits f32[n_rows,V] that the head left.
  Result<std::span<const float>> head_logits(uint32_t n_rows);
  Result<void> move_rows(Sequence& sequence, size_t layer, RowRange gap);
  Result<void> rotate_keys(size_t layer, const float* keys, uint32_t first_position, uint32_t n);
  Result<void> fill_rope_tables(uint32_t n_rows);
  Result<void> plan();

  const ModelFile* file_;
  HyperParameters hp_;
  ThreadPool* pool_;
  DecoderOptions options_;
  std::unique_ptr<Weights> weights_;  // null: it is a twin
  Values values_;
  std::unique_ptr<Graph> graph_;
  CachePlan plan_;
  std::vector<std::unique_ptr<Sequence>> sequences_;  // [0] is there always
  uint32_t n_created_ = 0;
  std::unique_ptr<Batch> batch_;
  uint32_t capacity_rows_ = 0;
  uint32_t chunk_rows_ = 0;
  uint32_t head_rows_ = 0;
  uint32_t n_rope_rows_ = 0;  // filled rows of the RoPE tables
  uint64_t weight_bytes_per_token_ = 0;
  OpObserver* observer_ = nullptr;
  const std::atomic<bool>* cancel_ = nullptr;
  ProgramCounters counters_;
  std::vector<int32_t> ids_, positions_;  // of a chunk
  std::vector<RowBlock> blocks_;  // of a chunk
  std::vector<float> cosines_, sines_;
  std::vector<float> logits_;  // only where the backend has no host memory
  std::vector<float> moved_k_, moved_v_;  // rows of a chunk on their way; only where keys are kept
};

}  // namespace plumbline::model
