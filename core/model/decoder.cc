#include "core/model/decoder.h"

#include <algorithm>
#include <numeric>

#include "core/model/decoder_graph.h"
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

Decoder::Decoder(HyperParameters hp, ThreadPool& pool, std::vector<Backend*> backends)
    : hp_(std::move(hp)),
      pool_(&pool),
      values_(std::move(backends)),
      graph_(std::make_unique<Graph>(values_)) {}

Decoder::~Decoder() = default;

Result<std::unique_ptr<Decoder>> Decoder::create(const ModelFile& file, ThreadPool& pool,
                                                 const DecoderOptions& options) {
  PLUMB_ASSIGN(HyperParameters hp, file.hyper_parameters());
  std::unique_ptr<Decoder> decoder(new Decoder(std::move(hp), pool, options.backends));
  Decoder& d = *decoder;
  d.capacity_rows_ = options.context_rows != 0
                         ? options.context_rows
                         : std::min(d.hp_.n_context_train, kDefaultContextRows);
  d.chunk_rows_ = std::min(std::max(1u, options.chunk_rows), d.capacity_rows_);
  d.kv_format_ = options.kv_format;

  GraphOptions graph_options;
  graph_options.capacity_rows = d.capacity_rows_;
  graph_options.chunk_rows = d.chunk_rows_;
  d.head_rows_ = std::min(kHeadRows, d.chunk_rows_);
  graph_options.head_rows = d.head_rows_;
  graph_options.activations = options.activations;
  graph_options.kv_format = options.kv_format;
  Placement placement(options.overrides);
  Weights weights(file);
  PLUMB_TRY(
      build_graph(d.hp_, graph_options, file, placement, pool, d.values_, weights, *d.graph_));
  d.weight_bytes_per_token_ = weights.source_bytes();
  if (!d.hp_.tied_head) {
    const uint64_t embedding = tensor_bytes(file, "token_embd.weight");
    d.weight_bytes_per_token_ -= embedding - embedding / d.hp_.n_vocab;
  }
  d.positions_.resize(d.chunk_rows_);
  const size_t rope_width = std::max(d.hp_.rope.n_rotated, d.hp_.rope_local.n_rotated) / 2;
  d.cosines_.resize(kRopeRowsAtOnce * rope_width);
  d.sines_.resize(kRopeRowsAtOnce * rope_width);
  d.logits_.resize(d.hp_.n_vocab);
  PLUMB_TRY(d.plan());
  return decoder;
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

Result<void> Decoder::run_chunk(std::span<const int32_t> ids) {
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
  return body.run(*pool_, n_past_, observer_, cancel_, counters_);
}

Result<std::span<const float>> Decoder::run_head(uint32_t chunk_row, uint32_t n_rows) {
  Program& head = graph_->head;
  head.set_rows(n_rows);
  head.op(0).as.norm.in.offset_bytes = uint64_t{4} * hp_.d_model * chunk_row;
  PLUMB_TRY(head.run(*pool_, n_past_ + chunk_row, observer_, cancel_, counters_));
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
  PLUMB_TRY(check_ids(ids));
  const uint32_t before = n_past_;
  const auto attempt = [&]() -> Result<std::span<const float>> {
    while (true) {
      const auto chunk = ids.first(std::min<size_t>(ids.size(), chunk_rows_));
      PLUMB_TRY(run_chunk(chunk));
      ids = ids.subspan(chunk.size());
      if (ids.empty()) {
        PLUMB_ASSIGN(const auto logits, run_head(static_cast<uint32_t>(chunk.size()) - 1, 1));
        n_past_ += static_cast<uint32_t>(chunk.size());
        return logits;
      }
      n_past_ += static_cast<uint32_t>(chunk.size());
    }
  };
  auto result = attempt();
  if (!result) n_past_ = before;
  return result;
}

Result<void> Decoder::forward_all(std::span<const int32_t> ids, const RowSink& sink) {
  PLUMB_TRY(check_ids(ids));
  const uint32_t before = n_past_;
  const auto attempt = [&]() -> Result<void> {
    while (!ids.empty()) {
      const auto chunk = ids.first(std::min<size_t>(ids.size(), chunk_rows_));
      PLUMB_TRY(run_chunk(chunk));
      const auto n_rows = static_cast<uint32_t>(chunk.size());
      for (uint32_t first = 0; first < n_rows; first += head_rows_) {
        const uint32_t count = std::min(head_rows_, n_rows - first);
        PLUMB_ASSIGN(const auto logits, run_head(first, count));
        for (uint32_t row = 0; row < count; ++row) {
          sink(n_past_ + first + row, logits.subspan(size_t{row} * hp_.n_vocab, hp_.n_vocab));
        }
      }
      n_past_ += static_cast<uint32_t>(chunk.size());
      ids = ids.subspan(chunk.size());
    }
    return {};
  };
  auto result = attempt();
  if (!result) n_past_ = before;
  return result;
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
  const uint64_t element = kv_format_ == PLUMB_F32 ? 4 : 2;
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
