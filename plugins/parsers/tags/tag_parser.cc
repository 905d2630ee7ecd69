#include "tag_parser.h"

#include <algorithm>
#include <utility>

#include "plumb/sdk/white_space.h"
#include "tool_call.h"

namespace plumbline::parsers::tags {
namespace {

constexpr size_t kCallBytesMax = size_t{1} << 20;

// Bytes at the end of a text that could go on to become the tag.
size_t n_begun(std::string_view text, std::string_view tag) {
  if (tag.empty()) return 0;
  for (size_t n = std::min(text.size(), tag.size() - 1); n > 0; --n) {
    if (text.ends_with(tag.substr(0, n))) return n;
  }
  return 0;
}

// The most bytes of a text, up to so many, that cut no character.
size_t whole_characters(std::string_view text, size_t n_bytes) {
  while (n_bytes > 0 && (static_cast<unsigned char>(text[n_bytes]) & 0xC0) == 0x80) --n_bytes;
  return n_bytes;
}

}  // namespace

void TagParser::begin(std::string_view prompt) {
  held_.clear();
  taken_ = n_searched_ = 0;
  events_.clear();
  const std::string& open = options_.reasoning.open;
  const size_t opened = open.empty() ? std::string_view::npos : prompt.rfind(open);
  const bool is_open =
      opened != std::string_view::npos && is_white_space(prompt.substr(opened + open.size()));
  block_ = options_.starts_in_reasoning || is_open ? Block::kReasoning : Block::kNone;
}

void TagParser::feed(std::string_view text, bool is_last) {
  held_.erase(0, std::exchange(taken_, 0));
  held_ += text;
  reasoning_ = call_ = {};
  while (step()) {
  }
  if (is_last) end();
}

size_t TagParser::find(const std::string& tag, Found& found) const {
  if (tag.empty()) return std::string::npos;
  if (!found.is_known || found.at < taken_) found = {held_.find(tag, taken_), true};
  return found.at;
}

bool TagParser::step() {
  switch (block_) {
    case Block::kNone:
      return step_outside();
    case Block::kReasoning:
      return step_reasoning();
    case Block::kToolCall:
      return step_tool_call();
  }
  return false;
}

bool TagParser::step_outside() {
  const std::string& reasoning = options_.reasoning.open;
  const std::string& call = options_.tool_call.open;
  const size_t reasoning_at = find(reasoning, reasoning_);
  const size_t call_at = find(call, call_);
  const size_t at = std::min(reasoning_at, call_at);
  if (at == std::string::npos) {
    const size_t n_kept = std::max(n_begun(rest(), reasoning), n_begun(rest(), call));
    emit_rest(PLUMB_EVENT_CONTENT, rest().size() - n_kept);
    return false;
  }
  emit_rest(PLUMB_EVENT_CONTENT, at - taken_);
  const bool is_call = call_at < reasoning_at;
  taken_ += is_call ? call.size() : reasoning.size();
  block_ = is_call ? Block::kToolCall : Block::kReasoning;
  n_searched_ = 0;
  return true;
}

bool TagParser::step_reasoning() {
  const std::string& close = options_.reasoning.close;
  const size_t n_thought = rest().find(close);
  if (n_thought == std::string::npos) {
    emit_rest(PLUMB_EVENT_REASONING, rest().size() - n_begun(rest(), close));
    return false;
  }
  emit_rest(PLUMB_EVENT_REASONING, n_thought);
  taken_ += close.size();
  block_ = Block::kNone;
  return true;
}

bool TagParser::step_tool_call() {
  const Pair& tags = options_.tool_call;
  // A closing tag that begins within the limit may have come only in part.
  const std::string_view window = rest().substr(0, kCallBytesMax + tags.close.size());
  const size_t n_call = window.find(tags.close, n_searched_);
  if (n_call == std::string::npos && window.size() < kCallBytesMax + tags.close.size()) {
    n_searched_ = window.size() - std::min(window.size(), tags.close.size() - 1);
    return false;
  }
  block_ = Block::kNone;
  if (n_call == std::string::npos) {
    emit(PLUMB_EVENT_CONTENT, tags.open);
    emit_rest(PLUMB_EVENT_CONTENT, whole_characters(rest(), kCallBytesMax));
    return true;
  }
  const size_t n_bytes = n_call + tags.close.size();
  if (const auto call = read_tool_call(rest().substr(0, n_call))) {
    emit(PLUMB_EVENT_TOOL_CALL, *call);
    taken_ += n_bytes;
  } else {
    emit(PLUMB_EVENT_CONTENT, tags.open);
    emit_rest(PLUMB_EVENT_CONTENT, n_bytes);
  }
  return true;
}

void TagParser::end() {
  if (block_ == Block::kToolCall) emit(PLUMB_EVENT_CONTENT, options_.tool_call.open);
  emit_rest(block_ == Block::kReasoning ? PLUMB_EVENT_REASONING : PLUMB_EVENT_CONTENT,
            rest().size());
  block_ = Block::kNone;
}

Event TagParser::next() {
  if (events_.empty()) return {};
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void TagParser::emit(uint32_t kind, std::string_view text) {
  if (!text.empty()) events_.push_back({kind, std::string(text)});
}

void TagParser::emit_rest(uint32_t kind, size_t n_bytes) {
  emit(kind, rest().substr(0, n_bytes));
  taken_ += n_bytes;
}

}  // namespace plumbline::parsers::tags
