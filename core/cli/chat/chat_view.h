// chat_view.h: where a conversation's words go: a terminal, a pipe, or JSON lines.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/conversation/conversation.h"
#include "core/pipeline/diagnostics.h"
#include "plumb/sdk/result.h"

namespace plumbline::cli {

/// What a model says is made harmless by each of them: nothing of it is obeyed by a terminal.
class ChatView {
 public:
  virtual ~ChatView() = default;

  /// Whether it shows payloads: then one is made for each answer.
  virtual bool shows_payloads() const { return false; }
  /// An answer begins; pieces of it follow, then its end or an error. payload: filled in until
  /// then; it lives longer.
  virtual void answer_begins(const pipeline::Diagnostics& payload) = 0;
  virtual void thought(std::string_view text) = 0;
  virtual void text(std::string_view text) = 0;
  virtual void answer_ends(const conversation::Answer& answer,
                           const conversation::Conversation::Usage& usage) = 0;
  /// What somebody asked for: help, statistics, a transcript. Lines.
  virtual void told(std::string_view text) = 0;
  /// What nobody asked for, in one line.
  virtual void noted(std::string_view line) = 0;
  virtual void failed(const Error& error) = 0;
};

/// Answers to stdout, the rest to stderr; for people who read what a script writes.
std::unique_ptr<ChatView> make_pipe_view(bool is_quiet);

/// A line of JSON on stdout for everything: core/doc/chat.md.
std::unique_ptr<ChatView> make_json_view();

/// "12 tokens, 34.5/s"
std::string speed_of(const conversation::Answer& answer);
/// "3 older messages left out of the context"; empty: none was.
std::string evicted_of(const conversation::Answer& answer);

}  // namespace plumbline::cli
