// output_parser.h: an output parser's instance, in C++, and an answer as it makes it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/generator.h"
#include "core/pipeline/messages.h"
#include "core/pipeline/tokenizer.h"
#include "plumb/ext/output_parser.h"
#include "plumb/sdk/result.h"

namespace plumbline::pipeline {

struct OutputEvent {
  enum class Kind { kContent, kReasoning, kToolCall };
  Kind kind = Kind::kContent;
  std::string_view
      text;  // of a call {"name": ..., "arguments": ...} as JSON; borrowed until return
};

class OutputParser {
 public:
  static Result<OutputParser> create(std::string id, const plumb_output_parser& table,
                                     const plumb_host* host, const std::string& options_json);
  OutputParser(OutputParser&& other) noexcept;
  OutputParser& operator=(OutputParser&&) = delete;
  ~OutputParser();

  const std::string& id() const { return id_; }
  /// Texts that it looks for.
  const std::vector<std::string>& markers() const { return markers_; }
  /// Those of its markers that are control tokens, ascending: AnswerOptions::shown_control_ids.
  std::vector<int32_t> control_ids(const Tokenizer& tokenizer) const;

  using Sink = std::function<void(const OutputEvent& event)>;
  /// A new answer, behind this prompt.
  Result<void> begin(std::string_view prompt);
  /// The next piece of the answer's text: what is decided now goes to the sink.
  Result<void> feed(std::string_view text, const Sink& sink) { return feed(text, false, sink); }
  /// The answer is over: the rest.
  Result<void> end(const Sink& sink) { return feed({}, true, sink); }

 private:
  OutputParser(std::string id, const plumb_output_parser& table, void* self);
  Result<void> feed(std::string_view text, bool is_last, const Sink& sink);

  std::string id_;
  const plumb_output_parser* table_;
  void* self_;
  std::vector<std::string> markers_;
};

/// What an answer says, apart.
struct ParsedAnswer {
  std::string content;
  std::string reasoning;
  std::vector<OrderedJson> tool_calls;  // {"name": ..., "arguments": {...}} each

  /// Fails INTERNAL: a call that is no JSON.
  Result<void> add(const OutputEvent& event);
  /// An answer that came to its end and calls tools has stopped for them.
  StopReason stop_reason(StopReason reason) const;
};

}  // namespace plumbline::pipeline
