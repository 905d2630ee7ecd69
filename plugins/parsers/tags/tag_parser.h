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
  void emit_held(uint32_t kind, size_t n_bytes);

  const Options options_;
  Block block_ = Block::kNone;
  std::string held_;  // not decided yet; of a tool call, all that stands behind its opening tag
  size_t n_searched_ = 0;  // bytes of held_ in which no closing tag of a tool call begins
  std::deque<Event> events_;
};

}  // namespace plumbline::parsers::tags
