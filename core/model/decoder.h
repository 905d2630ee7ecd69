// decoder.h: a loaded model: ids in, logits out, with its KV caches.
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
#include "core/model/model_file.h"
#include "core/model/op_observer.h"
#include "core/model/placement.h"
#include "core/model/program.h"

namespace plumbline::model {

struct Graph;
class Weights;

struct DecoderOptions {
  std::vector<Backend*> backends;  // [0] runs everything that no override names
  std::vector<Override> overrides;
  plumb_format activations = PLUMB_ACT_Q8;
  plumb_format kv_format = PLUMB_F32;
  uint32_t context_rows = 0;  // S; 0: what the model was trained for, at most 4096
  uint32_t chunk_rows = 512;  // most ids of one pass over the weights
};

class Decoder {
 public:
  /// Reads hyper-parameters, builds the graph, prepares the weights. The file, the backends and the
  /// pool must outlive the decoder. Fails UNSUPPORTED (what is missing), CORRUPT (what is wrong in
  /// the file).
  static Result<std::unique_ptr<Decoder>> create(const ModelFile& file, ThreadPool& pool,
                                                 const DecoderOptions& options);
  ~Decoder();
  /// Another decoder on the same prepared weights, with caches and activations of its own, on which
  /// it can run in step with this one. Neither of the two may be in use by two threads at once, nor
  /// both. The first must outlive it.
  Result<std::unique_ptr<Decoder>> twin();

  const HyperParameters& hyper_parameters() const { return hp_; }
  uint32_t capacity_rows() const { return capacity_rows_; }
  uint32_t chunk_rows() const { return chunk_rows_; }
  ThreadPool& pool() const { return *pool_; }
  /// Rows in the KV caches: ids that forward has seen and truncate has not taken back.
  uint32_t n_past() const { return n_past_; }

  /// Appends ids and returns the logits of the last one, f32[V], valid until the next call.
  /// Fails INVALID_ARGUMENT (no ids, an id outside the vocabulary, no room), NUMERIC (names the
  /// op); after a failure the caches hold what they held before.
  Result<std::span<const float>> forward(std::span<const int32_t> ids);
  /// As forward, but every row's logits are handed over, in order: f32[V] each, borrowed until
  /// return.
  using RowSink = std::function<void(uint32_t position, std::span<const float> logits)>;
  Result<void> forward_all(std::span<const int32_t> ids, const RowSink& sink);

  /// Forgets all ids behind the first n_rows. Fails INVALID_ARGUMENT if there are fewer.
  Result<void> truncate(uint32_t n_rows);

  /// Null: none. The same logits come out either way.
  void set_observer(OpObserver* observer) { observer_ = observer; }
  /// Null, or a flag that ends a running forward between two ops: it then fails CANCELLED.
  void set_cancel(const std::atomic<bool>* cancel) { cancel_ = cancel; }
  const ProgramCounters& counters() const { return counters_; }
  /// Bytes of the file's tensors that one token reads: all of the body, and the head; of an untied
  /// embedding one row.
  uint64_t weight_bytes_per_token() const { return weight_bytes_per_token_; }
  /// Bytes of K and V that one id adds, over all layers.
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
  friend class Forward;

  Decoder(const ModelFile& file, HyperParameters hp, ThreadPool& pool, DecoderOptions options);
  Result<void> build(Weights& weights);
  Result<void> check_ids(std::span<const int32_t> ids) const;
  // Make a list of ops ready: of the ids that come next, or of the head for rows of theirs, at most
  // head_rows_.
  Result<Program*> begin_chunk(std::span<const int32_t> ids);
  Program& begin_head(uint32_t chunk_row, uint32_t n_rows);
  /// Logits f32[n_rows,V] that the head left.
  Result<std::span<const float>> head_logits(uint32_t n_rows);
  Result<void> fill_rope_tables(uint32_t n_rows);
  Result<void> plan();

  const ModelFile* file_;
  HyperParameters hp_;
  ThreadPool* pool_;
  DecoderOptions options_;
  std::unique_ptr<Weights> weights_;  // null: it is a twin
  Values values_;
  std::unique_ptr<Graph> graph_;
  uint32_t capacity_rows_ = 0;
  uint32_t chunk_rows_ = 0;
  uint32_t head_rows_ = 0;
  uint32_t n_past_ = 0;
  uint32_t n_rope_rows_ = 0;  // filled rows of the RoPE tables
  uint64_t weight_bytes_per_token_ = 0;
  OpObserver* observer_ = nullptr;
  const std::atomic<bool>* cancel_ = nullptr;
  ProgramCounters counters_;
  std::vector<int32_t> positions_;
  std::vector<float> cosines_, sines_;
  std::vector<float> logits_;  // only where the backend has no host memory
};

}  // namespace plumbline::model
