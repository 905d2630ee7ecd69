#include "core/pipeline/answer_text.h"

#include <algorithm>
#include <utility>

namespace plumbline::pipeline {

AnswerText::AnswerText(const Tokenizer& tokenizer, AnswerOptions options,
                       std::function<void(std::string_view)> on_text)
    : tokenizer_(tokenizer),
      options_(std::move(options)),
      on_text_(std::move(on_text)),
      assembler_(options_.stops, ill_formed(options_.ill_formed, tokenizer.info()), on_text_,
                 &text_) {}

Result<std::optional<AnswerEnd>> AnswerText::add(int32_t id) {
  const uint32_t attributes = tokenizer_.attributes(id);
  const bool ends = (attributes & PLUMB_TOKEN_END) != 0 && !options_.ignores_end;
  const auto listed = options_.stops != nullptr ? options_.stops->index_of(id) : std::nullopt;
  const bool is_control = (attributes & (PLUMB_TOKEN_END | PLUMB_TOKEN_CONTROL)) != 0;
  const bool is_text = !is_control || std::ranges::binary_search(options_.shown_control_ids, id);
  last_bytes_ = {};
  if (is_text && !ends && !listed) {
    PLUMB_ASSIGN(last_bytes_, tokenizer_.piece(id, spans_.empty()));
  }
  const uint64_t begin = spans_.empty() ? 0 : spans_.back().end;
  spans_.push_back({begin, begin + last_bytes_.size()});
  if (ends) return std::optional(AnswerEnd{});
  if (listed) return std::optional(stopped({Stop::Kind::kId, *listed, begin}));
  const auto stop = is_text ? assembler_.feed(id, last_bytes_, (attributes & PLUMB_TOKEN_BYTE) != 0)
                            : assembler_.interrupt(id);
  return stop ? std::optional(stopped(*stop)) : std::nullopt;
}

AnswerEnd AnswerText::stopped(const Stop& stop) {
  for (auto span = spans_.rbegin(); span != spans_.rend() && span->end > stop.at; ++span) {
    span->begin = std::min(span->begin, stop.at);
    span->end = stop.at;
  }
  return {stop};
}

}  // namespace plumbline::pipeline
