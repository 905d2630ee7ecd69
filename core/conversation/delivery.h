// delivery.h: the one place through which an answer leaves, and what of it has arrived.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/conversation/gate.h"
#include "core/pipeline/answer_text.h"
#include "core/pipeline/output_parser.h"

namespace plumbline::conversation {

/// Takes an answer's text apart and hands it on. Text of a request that was cancelled is dropped
/// here, whoever still produces it.
class Delivery {
 public:
  struct Sinks {
    std::function<void(std::string_view text)> on_text = {};
    std::function<void(std::string_view text)> on_thinking = {};
    /// Told before a text of that kind is handed on.
    std::function<Result<void>(pipeline::OutputEvent::Kind kind)> on_kind = {};
  };
  /// parser: null if all is content; begun behind the prompt.
  Delivery(const Gate::Pass& pass, pipeline::OutputParser* parser, Sinks sinks)
      : pass_(pass), parser_(parser), sinks_(std::move(sinks)) {}

  void take(std::string_view text);
  /// The answer is over: what the parser held back comes out. Fails as the parser and on_kind did,
  /// at any time.
  Result<void> finish();

  /// What the sinks took: they have returned.
  const pipeline::ParsedAnswer& arrived() const { return arrived_; }
  /// It was cancelled before all of it was handed on.
  bool has_dropped() const { return has_dropped_; }

 private:
  void hand_on(const pipeline::OutputEvent& event);

  const Gate::Pass& pass_;
  pipeline::OutputParser* parser_;
  Sinks sinks_;
  pipeline::ParsedAnswer arrived_;
  bool has_dropped_ = false;
  Result<void> failed_;
};

/// How ids become an answer.
struct Reading {
  const pipeline::Tokenizer& tokenizer;
  pipeline::AnswerOptions options;  // without stops
  pipeline::OutputParser* parser = nullptr;
  std::string_view prompt = {};  // what the answer stands behind
};

struct DeliveredIds {
  size_t n_ids = 0;
  pipeline::ParsedAnswer answer = {};
};

/// The ids of an answer up to the last one whose text has arrived wholly, and what they say. Ids
/// without a text of their own behind it have not; nor has a call of a tool, which arrives with the
/// answer's end.
Result<DeliveredIds> delivered_ids(const Reading& reading, std::span<const int32_t> ids,
                                   const pipeline::ParsedAnswer& arrived);

}  // namespace plumbline::conversation
