#include "core/model/batch.h"

#include <algorithm>

#include "core/model/decoder_graph.h"
#include "core/model/forward.h"

namespace plumbline::model {

std::span<float> Batch::logits_of(size_t part) {
  const size_t width = decoder_->hp_.n_vocab;
  return std::span(logits_).subspan(part * width, width);
}

Result<void> Batch::run(std::span<SequenceIds> parts) {
  parts_ = parts;
  logits_.resize(std::max(logits_.size(), parts.size() * decoder_->hp_.n_vocab));
  for (const SequenceIds& part : parts) part.sequence->mark();
  auto done = decoder_->observer_ != nullptr ? run_one_by_one() : run_passes();
  if (!done) {
    for (const SequenceIds& part : parts) part.sequence->roll_back();
  }
  return done;
}

// What an observer sees belongs to one sequence, with positions that rise by one.
Result<void> Batch::run_one_by_one() {
  for (size_t i = 0; i < parts_.size(); ++i) {
    Forward forward(*decoder_, *parts_[i].sequence, parts_[i].ids, Forward::Rows::kLast);
    while (true) {
      PLUMB_ASSIGN(const bool goes_on, forward.begin_part());
      if (!goes_on) break;
      PLUMB_TRY(forward.run_part(decoder_->observer_));
      std::ranges::copy(forward.logits(), logits_of(i).begin());
    }
    parts_[i].logits = logits_of(i);
  }
  return {};
}

Result<void> Batch::run_passes() {
  left_.clear();
  for (const SequenceIds& part : parts_) left_.push_back(part.ids);
  Decoder& d = *decoder_;
  while (true) {
    PLUMB_TRY(take_pass());
    if (pass_.empty()) return {};
    PLUMB_ASSIGN(Program* const body, d.begin_chunk(pass_));
    PLUMB_TRY(body->run(*d.pool_, 0, nullptr, d.cancel_, d.counters_));
    for (const SequenceIds& taken : pass_)
      taken.sequence->add(static_cast<uint32_t>(taken.ids.size()));
    PLUMB_TRY(run_head());
  }
}

Result<void> Batch::take_pass() {
  pass_.clear();
  finished_.clear();
  last_rows_.clear();
  uint32_t n_rows = 0;
  for (size_t i = 0; i < parts_.size() && n_rows < decoder_->chunk_rows_; ++i) {
    if (left_[i].empty()) continue;
    PLUMB_ASSIGN(const uint32_t n_free, decoder_->make_room(*parts_[i].sequence));
    const auto n = static_cast<uint32_t>(
        std::min<size_t>(left_[i].size(), std::min(n_free, decoder_->chunk_rows_ - n_rows)));
    pass_.push_back({parts_[i].sequence, left_[i].first(n)});
    left_[i] = left_[i].subspan(n);
    n_rows += n;
    if (!left_[i].empty()) continue;
    finished_.push_back(i);
    last_rows_.push_back(n_rows - 1);
  }
  return {};
}

// The head takes rows that follow each other, so the last ones come to the front. None is
// overwritten that is still to come: row i of them lies at i or behind.
Result<void> Batch::gather_last_rows() {
  Program& head = decoder_->graph_->head;
  const Backend& backend = head.backend_of(0);
  const uint64_t row_bytes = uint64_t{4} * decoder_->hp_.d_model;
  row_.resize(decoder_->hp_.d_model);
  plumb_slice hidden = head.op(0).as.norm.in;
  for (size_t i = 0; i < last_rows_.size(); ++i) {
    if (last_rows_[i] == i) continue;
    hidden.offset_bytes = last_rows_[i] * row_bytes;
    PLUMB_TRY(backend.read(hidden, row_.data(), row_bytes));
    hidden.offset_bytes = i * row_bytes;
    PLUMB_TRY(backend.write(hidden, row_.data(), row_bytes));
  }
  return {};
}

Result<void> Batch::run_head() {
  Decoder& d = *decoder_;
  PLUMB_TRY(gather_last_rows());
  const auto n_finished = static_cast<uint32_t>(finished_.size());
  for (uint32_t first = 0; first < n_finished; first += d.head_rows_) {
    const uint32_t n = std::min(d.head_rows_, n_finished - first);
    PLUMB_TRY(d.begin_head(first, n).run(*d.pool_, 0, nullptr, d.cancel_, d.counters_));
    PLUMB_ASSIGN(std::span<const float> rows, d.head_logits(n));
    for (uint32_t i = 0; i < n; ++i) {
      const std::span<float> logits = logits_of(finished_[first + i]);
      std::ranges::copy(rows.subspan(i * logits.size(), logits.size()), logits.begin());
      parts_[finished_[first + i]].logits = logits;
    }
  }
  return {};
}

}  // namespace plumbline::model
