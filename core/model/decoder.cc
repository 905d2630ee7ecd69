#include "core/model/decoder.h"

#include <algorithm>
#include <numeric>

#include "core/model/batch.h"
#include "core/model/decoder_graph.h"
#include "core/model/forward.h"
#include "core/model/kv_size.h"
#include "core/model/rope_table.h"

namespace plumbline::model {
namespace {

constexpr uint32_t kDefaultContextRows = 4096;
constexpr uint32_t kRopeRowsAtOnce = 64;
// Rows of logits of one pass over the head's weights: enough that the weights are no longer what
// costs, and 32 MiB for a vocabulary of 262,144.
constexpr uint32_t kHeadRows = 32;

uint64_t tensor_bytes(const ModelFile& file, const std::string& tensor) {
  const ModelFile::Entry* entry = file.find(tensor);
  return entry == nullptr ? 0 : entry->tensor.data.bytes;
}

}  // namespace

Decoder::Decoder(const ModelFile& file, HyperParameters hp, ThreadPool& pool,
                 DecoderOptions options)
    : file_(&file),
      hp_(std::move(hp)),
      pool_(&pool),
      options_(std::move(options)),
      values_(options_.backends),
      graph_(std::make_unique<Graph>(values_)) {}

Decoder::~Decoder() = default;

Result<std::unique_ptr<Decoder>> Decoder::create(const ModelFile& file, ThreadPool& pool,
                                                 const DecoderOptions& options) {
  PLUMB_ASSIGN(HyperParameters hp, file.hyper_parameters());
  std::unique_ptr<Decoder> decoder(new Decoder(file, std::move(hp), pool, options));
  decoder->weights_ = std::make_unique<Weights>(file);
  PLUMB_TRY(decoder->build(*decoder->weights_));
  return decoder;
}

Result<std::unique_ptr<Decoder>> Decoder::twin() {
  if (weights_ == nullptr) return Error{PLUMB_INVALID_ARGUMENT, "a twin has no twin of its own"};
  std::unique_ptr<Decoder> decoder(new Decoder(*file_, hp_, *pool_, options_));
  PLUMB_TRY(decoder->build(*weights_));
  return decoder;
}

Result<void> Decoder::build(Weights& weights) {
  capacity_rows_ = options_.context_rows != 0 ? options_.context_rows
                                              : std::min(hp_.n_context_train, kDefaultContextRows);
  chunk_rows_ = std::min(std::max(1u, options_.chunk_rows), capacity_rows_);
  head_rows_ = std::min(kHeadRows, chunk_rows_);
  GraphOptions graph_options;
  graph_options.capacity_rows = capacity_rows_;
  graph_options.chunk_rows = chunk_rows_;
  graph_options.head_rows = head_rows_;
  graph_options.activations = options_.activations;
  graph_options.keeps_keys = options_.keeps_keys || options_.window.policy != WindowPolicy::kFull;
  if (options_.kv_budget_bytes != UINT64_MAX) {
    PLUMB_TRY(check_kv_budget(hp_, capacity_rows_, options_.kv_format, graph_options.keeps_keys,
                              options_.kv_budget_bytes));
  }
  Placement placement(options_.overrides);
  PLUMB_TRY(build_graph(hp_, graph_options, *file_, placement, values_, weights, *graph_));
  plan_caches(graph_options.keeps_keys);
  PLUMB_TRY(create_sequence());
  PLUMB_TRY(weights.prepare(*pool_));
  resolve_weights(weights, *graph_);
  weight_bytes_per_token_ = weights.source_bytes();
  if (!hp_.tied_head) {
    const uint64_t embedding = tensor_bytes(*file_, "token_embd.weight");
    weight_bytes_per_token_ -= embedding - embedding / hp_.n_vocab;
  }
  ids_.resize(chunk_rows_);
  positions_.resize(chunk_rows_);
  const size_t rope_width = std::max(hp_.rope.n_rotated, hp_.rope_local.n_rotated) / 2;
  cosines_.resize(kRopeRowsAtOnce * rope_width);
  sines_.resize(kRopeRowsAtOnce * rope_width);
  logits_.resize(hp_.n_vocab);
  batch_ = std::make_unique<Batch>(*this);
  return plan();
}

void Decoder::plan_caches(bool keeps_keys) {
  for (const GraphLayer& layer : graph_->layers)
    plan_.layers.push_back(values_.backends()[layer.cache_at]);
  plan_.shape = make_abi<plumb_kv_shape>();
  plan_.shape.format = options_.kv_format;
  plan_.shape.capacity_rows = capacity_rows_;
  plan_.shape.n_heads_kv = hp_.n_heads_kv;
  plan_.shape.head_width = hp_.head_width;
  plan_.keeps_keys = keeps_keys;
  if (!keeps_keys) return;
  moved_k_.resize(size_t{chunk_rows_} * plan_.width());
  moved_v_.resize(moved_k_.size());
}

// All sequences have caches of one shape, so what serves the first serves all.
Result<void> Decoder::plan() {
  const RowBlock last_rows{&sequence(), chunk_rows_, capacity_rows_ - chunk_rows_};
  graph_->body.set_blocks({&last_rows, 1});
  PLUMB_TRY(graph_->body.plan());
  graph_->head.set_rows(head_rows_);
  return graph_->head.plan();
}

Result<void> Decoder::fill_rope_tables(uint32_t n_rows) {
  while (n_rope_rows_ < n_rows) {
    const uint32_t count = std::min(kRopeRowsAtOnce, n_rows - n_rope_rows_);
    for (const RopeTable& table : graph_->rope) {
      const uint64_t row_bytes = 4 * table.frequencies.size();
      fill_rope_rows(table.frequencies, table.attention_factor, n_rope_rows_, count,
                     cosines_.data(), sines_.data());
      PLUMB_TRY(values_.write_all(table.cosines, n_rope_rows_ * row_bytes, cosines_.data(),
                                  count * row_bytes));
      PLUMB_TRY(values_.write_all(table.sines, n_rope_rows_ * row_bytes, sines_.data(),
                                  count * row_bytes));
    }
    n_rope_rows_ += count;
  }
  return {};
}

Result<Program*> Decoder::begin_chunk(std::span<const SequenceIds> parts) {
  blocks_.clear();
  size_t n_rows = 0;
  uint32_t n_positions = 0;
  for (const SequenceIds& part : parts) {
    const auto n = static_cast<uint32_t>(part.ids.size());
    const uint32_t first = part.sequence->n_past();
    std::copy(part.ids.begin(), part.ids.end(), &ids_[n_rows]);
    std::iota(&positions_[n_rows], &positions_[n_rows] + n, static_cast<int32_t>(first));
    blocks_.push_back({part.sequence, n, first});
    n_rows += n;
    n_positions = std::max(n_positions, first + n);
  }
  PLUMB_TRY(fill_rope_tables(n_positions));
  PLUMB_TRY(values_.write_all(graph_->ids, 0, ids_.data(), 4 * n_rows));
  PLUMB_TRY(values_.write_all(graph_->positions, 0, positions_.data(), 4 * n_rows));
  graph_->body.set_blocks(blocks_);
  return &graph_->body;
}

Program& Decoder::begin_head(uint32_t chunk_row, uint32_t n_rows) {
  Program& head = graph_->head;
  head.set_rows(n_rows);
  head.op(0).as.norm.in.offset_bytes = uint64_t{4} * hp_.d_model * chunk_row;
  return head;
}

Result<std::span<const float>> Decoder::head_logits(uint32_t n_rows) {
  PLUMB_ASSIGN(const plumb_slice slice, values_.slice(graph_->logits, graph_->logits_at));
  const Backend& backend = *values_.backends()[graph_->logits_at];
  const size_t n = size_t{n_rows} * hp_.n_vocab;
  if (const void* logits = backend.host_pointer(slice)) {
    return std::span(static_cast<const float*>(logits), n);
  }
  if (logits_.size() < n) logits_.resize(n);
  PLUMB_TRY(backend.read(slice, logits_.data(), 4 * n));
  return std::span<const float>(logits_).first(n);
}

Result<std::span<const float>> Decoder::forward(std::span<const int32_t> ids) {
  Forward forward(*this, sequence(), ids, Forward::Rows::kLast);
  std::span<const float> logits;
  while (true) {
    PLUMB_ASSIGN(const bool goes_on, forward.begin_part());
    if (!goes_on) return logits;
    PLUMB_TRY(forward.run_part(observer_));
    logits = forward.logits();
  }
}

Result<void> Decoder::forward_all(std::span<const int32_t> ids, const RowSink& sink) {
  Forward forward(*this, sequence(), ids, Forward::Rows::kAll);
  while (true) {
    PLUMB_ASSIGN(const bool goes_on, forward.begin_part());
    if (!goes_on) return {};
    PLUMB_TRY(forward.run_part(observer_));
    const std::span<const float> logits = forward.logits();
    for (size_t at = 0; at < logits.size(); at += hp_.n_vocab) {
      sink(forward.logits_position() + static_cast<uint32_t>(at / hp_.n_vocab),
           logits.subspan(at, hp_.n_vocab));
    }
  }
}

uint64_t Decoder::kv_bytes_per_row() const {
  return *kv_bytes(hp_, 1, options_.kv_format, plan_.keeps_keys);  // one row is always a number
}

std::vector<const OpInfo*> Decoder::ops() const {
  std::vector<const OpInfo*> ops;
  for (const Program* program : {&graph_->body, &graph_->head}) {
    for (size_t index = 0; index < program->n_ops(); ++index) ops.push_back(&program->info(index));
  }
  return ops;
}

bool Decoder::is_in_head(const OpInfo& op) const {
  const Program& head = graph_->head;
  for (size_t index = 0; index < head.n_ops(); ++index) {
    if (&head.info(index) == &op) return true;
  }
  return false;
}

}  // namespace plumbline::model
