// sequences.cc: a decoder's sequences: made, checked, and their rows re-mapped.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "core/model/batch.h"
#include "core/model/decoder.h"
#include "core/model/decoder_graph.h"

namespace plumbline::model {

Result<Sequence*> Decoder::create_sequence() {
  PLUMB_ASSIGN(KvWindow window, KvWindow::create(options_.window, capacity_rows_));
  PLUMB_ASSIGN(std::unique_ptr<Sequence> made,
               Sequence::create(n_created_, plan_, std::move(window)));
  ++n_created_;
  sequences_.push_back(std::move(made));
  return sequences_.back().get();
}

void Decoder::destroy_sequence(Sequence& sequence) {
  std::erase_if(sequences_, [&](const auto& one) { return one.get() == &sequence; });
}

Result<void> Decoder::check_ids(const Sequence& sequence, std::span<const int32_t> ids) const {
  if (ids.empty()) return Error{PLUMB_INVALID_ARGUMENT, "no ids: expected at least one"};
  if (!sequence.window().evicts() && ids.size() > sequence.window().n_free()) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "the context is full: " + std::to_string(sequence.n_past()) + " of " +
                     std::to_string(capacity_rows_) + " rows are used and " +
                     std::to_string(ids.size()) + " more were asked for"};
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

Result<uint32_t> Decoder::make_room(Sequence& sequence) {
  const KvWindow& window = sequence.window();
  if (window.n_free() == 0 && window.evicts()) PLUMB_TRY(remove_rows(sequence, window.eviction()));
  return window.n_free();
}

Result<void> Decoder::step(std::span<SequenceIds> parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    const Sequence& sequence = *parts[i].sequence;
    const std::string where = "sequence " + std::to_string(sequence.number());
    const auto is_this = [&](const SequenceIds& part) { return part.sequence == &sequence; };
    if (std::ranges::any_of(parts.first(i), is_this))
      return Error{PLUMB_INVALID_ARGUMENT, where + " is listed twice"};
    if (auto checked = check_ids(sequence, parts[i].ids); !checked)
      return std::move(checked).error().at(where);
  }
  return batch_->run(parts);
}

// ---- Rows re-mapped

Result<void> Decoder::remove_rows(Sequence& sequence, RowRange rows) {
  const uint32_t n_past = sequence.n_past();
  if (rows.begin > rows.end || rows.end > n_past) {
    return Error{PLUMB_INVALID_ARGUMENT, "cannot remove rows [" + std::to_string(rows.begin) + "," +
                                             std::to_string(rows.end) + ") of " +
                                             std::to_string(n_past)};
  }
  if (rows.size() == 0) return {};
  if (rows.end < n_past && !plan_.keeps_keys) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "rows cannot move: this decoder was made without keeps_keys"};
  }
  PLUMB_TRY(fill_rope_tables(n_past));
  for (size_t layer = 0; layer < plan_.layers.size(); ++layer) {
    if (auto moved = move_rows(sequence, layer, rows); !moved) {
      PLUMB_TRY(sequence.truncate(rows.begin));
      return std::move(moved).error().at("layer " + std::to_string(layer) + ": rows from " +
                                         std::to_string(rows.begin) + " on are lost");
    }
  }
  sequence.removed(rows);
  return {};
}

// Rows behind the gap close it, some at a time; each is read before its place is written.
Result<void> Decoder::move_rows(Sequence& sequence, size_t layer, RowRange gap) {
  const uint32_t n_past = sequence.n_past();
  for (uint32_t from = gap.end, to = gap.begin; from < n_past;) {
    const uint32_t n = std::min(chunk_rows_, n_past - from);
    const size_t n_values = size_t{n} * plan_.width();
    float* const keys = sequence.keys(layer, to);
    std::memmove(keys, sequence.keys(layer, from), n_values * sizeof(float));
    PLUMB_TRY(rotate_keys(layer, keys, to, n));
    PLUMB_TRY(sequence.read_rows(layer, from, n, nullptr, moved_v_.data()));
    PLUMB_TRY(
        sequence.write_rows(layer, to, n, moved_k_.data(), moved_v_.data(), positions_.data()));
    from += n;
    to += n;
  }
  return {};
}

// By the layer's own op, with its table and on its backend: moved_k_ is what it gives for keys at
// positions_.
Result<void> Decoder::rotate_keys(size_t layer, const float* keys, uint32_t first_position,
                                  uint32_t n) {
  Program& body = graph_->body;
  const size_t index = graph_->layers[layer].k_rope;
  const Backend& backend = body.backend_of(index);
  const plumb_op_rope& rope = body.op(index).as.rope;
  const uint64_t bytes = sizeof(float) * uint64_t{n} * plan_.width();
  std::iota(positions_.begin(), positions_.begin() + n, static_cast<int32_t>(first_position));
  PLUMB_TRY(backend.write(rope.in, keys, bytes));
  PLUMB_TRY(backend.write(rope.positions, positions_.data(), 4 * uint64_t{n}));
  PLUMB_TRY(body.run_alone(index, n, *pool_));
  return backend.read(rope.out, moved_k_.data(), bytes);
}

}  // namespace plumbline::model
