// tag_parser.h: an answer's text, in pieces -> events.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "plumb/ext/output_parser.h"
#include "tag_options.h"

namespace plumbline::parsers::tags {

struct Event {
  uint32_t kind = PLUMB_EVENT_NONE;
  std::string text;
};

class TagParser {
 public:
  explicit TagParser(Options options) : options_(std::move(options)) { begin({}); }

  const Options& options() const { return options_; }
  void begin(std::string_view prompt);
  void feed(std::string_view text, bool is_last);
  /// The next event, which is then gone; PLUMB_EVENT_NONE.
  Event next();

 private:
  enum class Block { kNone, kReasoning, kToolCall };

  // Each takes what it can of held_; false: more text is needed.
  bool step();
  bool step_outside();
  bool step_reasoning();
  bool step_tool_call();
  void end();
  void emit(uint32_t kind, std::string_view text);
  /// Takes so many bytes of the rest.
  void emit_rest(uint32_t kind, size_t n_bytes);
  /// What is not decided yet; of a tool call, all that stands behind its opening tag.
  std::string_view rest() const { return std::string_view(held_).substr(taken_); }

  /// Where a tag stands in held_. It is looked for once, not again for every other tag before it.
  struct Found {
    size_t at = std::string::npos;
    bool is_known = false;
  };
  /// In the rest; npos: nowhere, or the tag is none.
  size_t find(const std::string& tag, Found& found) const;

  const Options options_;
  Block block_ = Block::kNone;
  std::string held_;
  size_t taken_ = 0;  // bytes of held_
  Found reasoning_, call_;  // opening tags
  size_t n_searched_ = 0;  // bytes of the rest in which no closing tag of a tool call begins
  std::deque<Event> events_;
};

}  // namespace plumbline::parsers::tags
