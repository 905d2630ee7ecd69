#include "core/model/decoder.h"

#include <algorithm>
#include <numeric>

#include "core/model/decoder_graph.h"
#include "core/model/forward.h"
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
  graph_options.kv_format = options_.kv_format;
  Placement placement(options_.overrides);
  PLUMB_TRY(build_graph(hp_, graph_options, *file_, placement, *pool_, values_, weights, *graph_));
  weight_bytes_per_token_ = weights.source_bytes();
  if (!hp_.tied_head) {
    const uint64_t embedding = tensor_bytes(*file_, "token_embd.weight");
    weight_bytes_per_token_ -= embedding - embedding / hp_.n_vocab;
  }
  positions_.resize(chunk_rows_);
  const size_t rope_width = std::max(hp_.rope.n_rotated, hp_.rope_local.n_rotated) / 2;
  cosines_.resize(kRopeRowsAtOnce * rope_width);
  sines_.resize(kRopeRowsAtOnce * rope_width);
  logits_.resize(hp_.n_vocab);
  return plan();
}

Result<void> Decoder::plan() {
  Program& body = graph_->body;
  body.set_rows(chunk_rows_);
  for (size_t index = 0; index < body.n_ops(); ++index) {
    plumb_op& op = body.op(index);
    if (op.kind == PLUMB_OP_KV_APPEND) op.as.kv_append.first_row = capacity_rows_ - chunk_rows_;
    if (op.kind == PLUMB_OP_ATTEND) op.as.attend.n_rows_kv = capacity_rows_;
  }
  PLUMB_TRY(body.plan());
  graph_->head.set_rows(head_rows_);
  return graph_->head.plan();
}

Result<void> Decoder::check_ids(std::span<const int32_t> ids) const {
  if (ids.empty()) return Error{PLUMB_INVALID_ARGUMENT, "no ids: expected at least one"};
  if (ids.size() > capacity_rows_ - n_past_) {
    return Error{PLUMB_INVALID_ARGUMENT, "the context is full: " + std::to_string(n_past_) +
                                             " of " + std::to_string(capacity_rows_) +
                                             " rows are used and " + std::to_string(ids.size()) +
                                             " more were asked for"};
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || static_cast<uint32_t>(ids[i]) >= hp_.n_vocab) {
      return Error{PLUMB_INVALID_ARGUMENT,
                   "id " + std::to_string(ids[i]) + " at index " + std::to_string(i) +
                       " is outside the vocabulary of " + std::to_string(hp_.n_vocab)};
    }
  }
  return {};
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

Result<Program*> Decoder::begin_chunk(std::span<const int32_t> ids) {
  const auto n_rows = static_cast<uint32_t>(ids.size());
  std::iota(positions_.begin(), positions_.begin() + n_rows, static_cast<int32_t>(n_past_));
  PLUMB_TRY(fill_rope_tables(n_past_ + n_rows));
  PLUMB_TRY(values_.write_all(graph_->ids, 0, ids.data(), 4 * ids.size()));
  PLUMB_TRY(values_.write_all(graph_->positions, 0, positions_.data(), 4 * ids.size()));
  Program& body = graph_->body;
  body.set_rows(n_rows);
  for (size_t index = 0; index < body.n_ops(); ++index) {
    plumb_op& op = body.op(index);
    if (op.kind == PLUMB_OP_KV_APPEND) op.as.kv_append.first_row = n_past_;
    if (op.kind == PLUMB_OP_ATTEND) op.as.attend.n_rows_kv = n_past_ + n_rows;
  }
  return &body;
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
  Forward forward(*this, ids, Forward::Rows::kLast);
  std::span<const float> logits;
  while (true) {
    PLUMB_ASSIGN(const bool goes_on, forward.begin_part());
    if (!goes_on) return logits;
    PLUMB_TRY(forward.run_part(observer_));
    logits = forward.logits();
  }
}

Result<void> Decoder::forward_all(std::span<const int32_t> ids, const RowSink& sink) {
  Forward forward(*this, ids, Forward::Rows::kAll);
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

Result<void> Decoder::truncate(uint32_t n_rows) {
  if (n_rows > n_past_) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "cannot keep " + std::to_string(n_rows) + " rows of " + std::to_string(n_past_)};
  }
  ErrorBuffer error;
  for (const KvCache& kv : graph_->kv) {
    const Backend& backend = *values_.backends()[kv.backend];
    const plumb_status status =
        backend.table().kv_truncate(backend.self(), kv.handle, n_rows, error);
    if (status != PLUMB_OK) return error.take(status).at(backend.id());
  }
  n_past_ = n_rows;
  return {};
}

uint64_t Decoder::kv_bytes_per_row() const {
  const uint64_t element = options_.kv_format == PLUMB_F32 ? 4 : 2;
  return 2 * element * hp_.n_layers * hp_.n_heads_kv * hp_.head_width;
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
