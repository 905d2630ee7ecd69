#include "core/model/forward.h"

#include <algorithm>

#include "core/model/decoder.h"
#include "core/model/decoder_graph.h"

namespace plumbline::model {

Forward::Forward(Decoder& decoder, std::span<const int32_t> ids, Rows rows, ThreadPool* pool)
    : Forward(decoder, decoder.sequence(), ids, rows, pool) {}

Forward::Forward(Decoder& decoder, Sequence& sequence, std::span<const int32_t> ids, Rows rows,
                 ThreadPool* pool)
    : decoder_(&decoder),
      sequence_(&sequence),
      pool_(pool != nullptr ? pool : decoder.pool_),
      ids_(ids),
      rows_(rows) {
  sequence.mark();
}

Forward::~Forward() {
  if (!is_over_) sequence_->roll_back();
}

Result<bool> Forward::begin_part() {
  Decoder& d = *decoder_;
  logits_ = {};
  if (!is_checked_) PLUMB_TRY(d.check_ids(*sequence_, ids_));
  is_checked_ = true;
  at_ = {};
  if (n_head_left_ > 0) {
    n_head_ = std::min(d.head_rows_, n_head_left_);
    first_position_ = sequence_->n_past() + head_first_;
    part_ = &d.begin_head(head_first_, n_head_);
    head_first_ += n_head_;
    n_head_left_ -= n_head_;
    return true;
  }
  sequence_->add(n_chunk_);
  n_head_ = 0;
  n_chunk_ = 0;
  if (ids_.empty()) {
    is_over_ = true;
    return false;
  }
  PLUMB_ASSIGN(const uint32_t n_free, d.make_room(*sequence_));
  n_chunk_ = static_cast<uint32_t>(std::min<size_t>(ids_.size(), std::min(n_free, d.chunk_rows_)));
  const SequenceIds chunk{sequence_, ids_.first(n_chunk_)};
  ids_ = ids_.subspan(n_chunk_);
  first_position_ = sequence_->n_past();
  PLUMB_ASSIGN(part_, d.begin_chunk({&chunk, 1}));
  head_first_ = rows_ == Rows::kAll ? 0 : n_chunk_ - 1;
  const bool has_head = rows_ == Rows::kAll || ids_.empty();
  n_head_left_ = has_head ? n_chunk_ - head_first_ : 0;
  return true;
}

Result<void> Forward::end_part() {
  if (n_head_ == 0) return {};
  PLUMB_ASSIGN(logits_, decoder_->head_logits(n_head_));
  return {};
}

Result<void> Forward::run_part(OpObserver* observer) {
  Decoder& d = *decoder_;
  PLUMB_TRY(part_->run(*pool_, first_position_, observer, d.cancel_, d.counters_));
  return end_part();
}

Result<bool> Forward::next() {
  Decoder& d = *decoder_;
  while (!is_over_) {
    if (part_ != nullptr) {
      PLUMB_ASSIGN(const std::optional<size_t> op,
                   part_->next_op(at_, *pool_, d.cancel_, d.counters_));
      if (op) {
        site_.emplace(*part_, *op, first_position_);
        PLUMB_TRY(part_->run_op(*op));
        if (part_->is_last(*op)) PLUMB_TRY(end_part());
        return true;
      }
    }
    PLUMB_TRY(begin_part());
  }
  return false;
}

}  // namespace plumbline::model
