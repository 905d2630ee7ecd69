// answer_text.h: the ids of an answer, one after the other -> its text, and when it is over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/pipeline_config.h"
#include "core/pipeline/stop_set.h"
#include "core/pipeline/text_assembler.h"
#include "core/pipeline/tokenizer.h"

namespace plumbline::pipeline {

struct AnswerOptions {
  std::shared_ptr<const StopSet> stops = {};  // null: none
  bool ignores_end = false;  // end tokens are control tokens like any other
  /// Control tokens whose literals are text nevertheless, ascending: an output parser's markers.
  std::vector<int32_t> shown_control_ids = {};
  config::IllFormed ill_formed = config::IllFormed::kAsTokenizer;
};

/// How the last id ended the answer.
struct AnswerEnd {
  std::optional<Stop> stop;  // empty: an end token
};

class AnswerText {
 public:
  /// The tokenizer must outlive it. on_text: empty, or told each piece of text as soon as it is
  /// sure; whole UTF-8 characters only.
  AnswerText(const Tokenizer& tokenizer, AnswerOptions options,
             std::function<void(std::string_view)> on_text);
  AnswerText(const AnswerText&) = delete;
  AnswerText& operator=(const AnswerText&) = delete;

  /// Fails as the tokenizer does.
  Result<std::optional<AnswerEnd>> add(int32_t id);
  /// Nothing follows: what was held back comes out.
  void flush() { assembler_.flush(); }

  const std::string& text() const { return text_; }
  /// Of each id in the answer's bytes; of those that have none, or that a stop cut away, empty.
  const std::vector<plumb_span>& spans() const { return spans_; }
  /// What the last id stands for, control tokens for nothing; borrowed until the next one.
  std::string_view last_bytes() const { return last_bytes_; }

 private:
  AnswerEnd stopped(const Stop& stop);

  const Tokenizer& tokenizer_;
  const AnswerOptions options_;
  const std::function<void(std::string_view)> on_text_;
  std::string text_;
  std::vector<plumb_span> spans_;
  std::string_view last_bytes_;
  TextAssembler assembler_;
};

}  // namespace plumbline::pipeline
