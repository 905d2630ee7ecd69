#include "core/conversation/delivery.h"

namespace plumbline::conversation {
namespace {

using pipeline::OutputEvent;
using pipeline::ParsedAnswer;

// What ids say if the answer ends with them.
Result<ParsedAnswer> read(const Reading& reading, std::span<const int32_t> ids) {
  pipeline::AnswerText text(reading.tokenizer, reading.options, {});
  for (const int32_t id : ids) PLUMB_TRY(text.add(id));
  text.flush();
  ParsedAnswer said;
  if (reading.parser == nullptr) {
    said.content = text.text();
    return said;
  }
  Result<void> added;
  const auto add = [&](const OutputEvent& event) {
    if (added) added = said.add(event);
  };
  PLUMB_TRY(reading.parser->begin(reading.prompt));
  PLUMB_TRY(reading.parser->feed(text.text(), add));
  PLUMB_TRY(reading.parser->end(add));
  PLUMB_TRY(std::move(added));
  return said;
}

bool has_arrived(const ParsedAnswer& said, const ParsedAnswer& arrived) {
  return said.tool_calls.empty() && arrived.content.starts_with(said.content) &&
         arrived.reasoning.starts_with(said.reasoning);
}

size_t n_bytes(const ParsedAnswer& said) {
  return said.content.size() + said.reasoning.size();
}

}  // namespace

void Delivery::hand_on(const OutputEvent& event) {
  if (!failed_) return;
  if (pass_.is_cancelled()) {
    has_dropped_ = true;
    return;
  }
  if (sinks_.on_kind && event.kind != OutputEvent::Kind::kToolCall)
    failed_ = sinks_.on_kind(event.kind);
  if (!failed_) return;
  if (event.kind == OutputEvent::Kind::kContent && sinks_.on_text) sinks_.on_text(event.text);
  if (event.kind == OutputEvent::Kind::kReasoning && sinks_.on_thinking)
    sinks_.on_thinking(event.text);
  failed_ = arrived_.add(event);
}

void Delivery::take(std::string_view text) {
  if (!failed_) return;
  if (pass_.is_cancelled()) {
    has_dropped_ = true;
  } else if (parser_ == nullptr) {
    hand_on({OutputEvent::Kind::kContent, text});
  } else {
    auto fed = parser_->feed(text, [this](const OutputEvent& event) { hand_on(event); });
    if (!fed) failed_ = std::move(fed);
  }
}

Result<void> Delivery::finish() {
  if (pass_.is_cancelled()) {
    has_dropped_ = true;  // perhaps nothing, but it was not to go on
  } else if (failed_ && parser_ != nullptr) {
    auto ended = parser_->end([this](const OutputEvent& event) { hand_on(event); });
    if (!ended) failed_ = std::move(ended);
  }
  return failed_;
}

Result<DeliveredIds> delivered_ids(const Reading& reading, std::span<const int32_t> ids,
                                   const ParsedAnswer& arrived) {
  DeliveredIds kept;
  // From the end: only what was held back is missing, a few ids, or a call of a tool.
  for (kept.n_ids = ids.size();; --kept.n_ids) {
    PLUMB_ASSIGN(kept.answer, read(reading, ids.first(kept.n_ids)));
    if (has_arrived(kept.answer, arrived) || kept.n_ids == 0) break;
  }
  for (; kept.n_ids > 0; --kept.n_ids) {
    PLUMB_ASSIGN(const ParsedAnswer without, read(reading, ids.first(kept.n_ids - 1)));
    if (n_bytes(without) < n_bytes(kept.answer) || !has_arrived(without, arrived)) break;
  }
  return kept;
}

}  // namespace plumbline::conversation
