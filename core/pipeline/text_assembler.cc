#include "core/pipeline/text_assembler.h"

#include <algorithm>
#include <utility>

namespace plumbline::pipeline {

TextAssembler::TextAssembler(std::shared_ptr<const StopSet> stops, IllFormed profile,
                             const std::function<void(std::string_view)>& on_text,
                             std::string* text)
    : stops_(stops != nullptr ? std::move(stops) : std::make_shared<const StopSet>()),
      stream_(profile),
      on_text_(on_text),
      text_(text) {
  segments_.reserve(64);
}

std::optional<Stop> TextAssembler::feed(int32_t id, std::string_view bytes, bool is_byte) {
  return take(id, bytes, {.n_bytes = bytes.size(), .is_byte = is_byte, .is_interrupt = false});
}

std::optional<Stop> TextAssembler::interrupt(int32_t id) {
  text_state_ = StopAutomaton<uint8_t>::kStart;
  return take(id, {}, {.n_bytes = 0, .is_byte = false, .is_interrupt = true});
}

void TextAssembler::flush() {
  segments_.push_back({.n_bytes = 0, .is_byte = false, .is_interrupt = true});
  release(0, 0);
}

std::optional<Stop> TextAssembler::take(int32_t id, std::string_view bytes,
                                        const Segment& segment) {
  const uint64_t begin = n_fed_;
  n_fed_ += bytes.size();
  held_ += bytes;
  segments_.push_back(segment);
  const StopAutomaton<uint8_t>& texts = stops_->texts();
  for (size_t i = 0; i < bytes.size(); ++i) {
    text_state_ = texts.next(text_state_, static_cast<uint8_t>(bytes[i]));
    const uint32_t found = texts.found(text_state_);
    if (found != texts.kNone)
      return stopped(Stop::Kind::kText, found, begin + i + 1 - texts.n_symbols(found));
  }
  const StopAutomaton<int32_t>& tails = stops_->tails();
  tail_state_ = tails.next(tail_state_, id);
  const uint32_t found = tails.found(tail_state_);
  if (found != tails.kNone)
    return stopped(Stop::Kind::kTail, found, n_fed_ - bytes_of_last(tails.n_symbols(found)));
  release(texts.n_pending(text_state_), tails.n_pending(tail_state_));
  return std::nullopt;
}

std::optional<Stop> TextAssembler::stopped(Stop::Kind kind, uint32_t index, uint64_t at) {
  release(static_cast<size_t>(n_fed_ - at), 0);
  held_.clear();
  segments_.clear();
  return Stop{kind, index, at};
}

size_t TextAssembler::bytes_of_last(size_t n_tokens) const {
  size_t n_bytes = 0;
  for (size_t i = segments_.size() - n_tokens; i < segments_.size(); ++i)
    n_bytes += segments_[i].n_bytes;
  return n_bytes;
}

void TextAssembler::release(size_t n_kept_bytes, size_t n_kept_tokens) {
  std::string_view left = held_;
  size_t n_done = 0;
  for (; n_done + n_kept_tokens < segments_.size(); ++n_done) {
    Segment& segment = segments_[n_done];
    if (segment.is_interrupt) stream_.flush(whole_);
    const size_t n = std::min(segment.n_bytes, left.size() - std::min(n_kept_bytes, left.size()));
    if (n > 0) stream_.feed(left.substr(0, n), segment.is_byte, whole_);
    left.remove_prefix(n);
    segment.n_bytes -= n;
    if (segment.n_bytes > 0) break;
  }
  segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(n_done));
  held_.erase(0, held_.size() - left.size());
  if (whole_.empty()) return;
  text_->append(whole_);
  if (on_text_) on_text_(whole_);
  whole_.clear();
}

}  // namespace plumbline::pipeline
