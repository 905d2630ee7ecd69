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

// Where the tag stands; npos also for a tag that is none.
size_t find_tag(std::string_view text, std::string_view tag) {
  return tag.empty() ? std::string_view::npos : text.find(tag);
}

}  // namespace

void TagParser::begin(std::string_view prompt) {
  held_.clear();
  events_.clear();
  n_searched_ = 0;
  const std::string& open = options_.reasoning.open;
  const size_t opened = open.empty() ? std::string_view::npos : prompt.rfind(open);
  const bool is_open =
      opened != std::string_view::npos && is_white_space(prompt.substr(opened + open.size()));
  block_ = options_.starts_in_reasoning || is_open ? Block::kReasoning : Block::kNone;
}

void TagParser::feed(std::string_view text, bool is_last) {
  held_ += text;
  while (step()) {
  }
  if (is_last) end();
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
  const size_t reasoning_at = find_tag(held_, reasoning);
  const size_t call_at = find_tag(held_, call);
  const size_t at = std::min(reasoning_at, call_at);
  if (at == std::string::npos) {
    const size_t n_kept = std::max(n_begun(held_, reasoning), n_begun(held_, call));
    emit_held(PLUMB_EVENT_CONTENT, held_.size() - n_kept);
    return false;
  }
  emit_held(PLUMB_EVENT_CONTENT, at);
  const bool is_call = call_at < reasoning_at;
  held_.erase(0, is_call ? call.size() : reasoning.size());
  block_ = is_call ? Block::kToolCall : Block::kReasoning;
  n_searched_ = 0;
  return true;
}

bool TagParser::step_reasoning() {
  const std::string& close = options_.reasoning.close;
  const size_t at = held_.find(close);
  if (at == std::string::npos) {
    emit_held(PLUMB_EVENT_REASONING, held_.size() - n_begun(held_, close));
    return false;
  }
  emit_held(PLUMB_EVENT_REASONING, at);
  held_.erase(0, close.size());
  block_ = Block::kNone;
  return true;
}

bool TagParser::step_tool_call() {
  const Pair& tags = options_.tool_call;
  const size_t at = held_.find(tags.close, n_searched_);
  // A closing tag that begins within the limit may have come only in part.
  if (at == std::string::npos && held_.size() < kCallBytesMax + tags.close.size()) {
    n_searched_ = held_.size() - std::min(held_.size(), tags.close.size() - 1);
    return false;
  }
  block_ = Block::kNone;
  if (at > kCallBytesMax) {
    emit(PLUMB_EVENT_CONTENT, tags.open);
    emit_held(PLUMB_EVENT_CONTENT, whole_characters(held_, kCallBytesMax));
    return true;
  }
  const size_t n_bytes = at + tags.close.size();
  if (const auto call = read_tool_call(std::string_view(held_).substr(0, at))) {
    emit(PLUMB_EVENT_TOOL_CALL, *call);
    held_.erase(0, n_bytes);
  } else {
    emit(PLUMB_EVENT_CONTENT, tags.open);
    emit_held(PLUMB_EVENT_CONTENT, n_bytes);
  }
  return true;
}

void TagParser::end() {
  if (block_ == Block::kToolCall) emit(PLUMB_EVENT_CONTENT, options_.tool_call.open);
  emit_held(block_ == Block::kReasoning ? PLUMB_EVENT_REASONING : PLUMB_EVENT_CONTENT,
            held_.size());
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

void TagParser::emit_held(uint32_t kind, size_t n_bytes) {
  emit(kind, std::string_view(held_).substr(0, n_bytes));
  held_.erase(0, n_bytes);
}

}  // namespace plumbline::parsers::tags
