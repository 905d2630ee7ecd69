// chat.h: a conversation and the commands that shape it, without a place where it is shown.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cli/chat/chat_payload.h"
#include "core/cli/chat/chat_settings.h"
#include "core/cli/chat/chat_view.h"
#include "core/cli/session.h"
#include "core/conversation/conversation.h"
#include "core/editor/line_editor.h"

namespace plumbline::cli {

/// Errors are shown and end nothing.
class Chat {
 public:
  /// All must outlive it. opened: the payload's part that all answers share.
  Chat(Session& session, conversation::Conversation& talk, ChatView& view,
       pipeline::Diagnostics opened)
      : session_(session),
        talk_(talk),
        view_(view),
        settings_(session),
        opened_(std::move(opened)) {}

  /// What a person entered: a command if it begins with '/', else a message. "//x" is the message
  /// "/x".
  void enter(const std::string& text);
  /// What `/load` does, in front of all entries. False: it failed, which was shown.
  bool begin_with(std::string_view path);

  /// Stops the answer that is being made, or is about to be. [any-thread, and from a signal
  /// handler]
  void interrupt() noexcept;
  /// What was interrupted is over.
  void forget_interrupt() { is_interrupted_ = false; }
  /// Calls of tools wait for their results.
  bool is_waiting() const { return talk_.state() == conversation::State::kToolCall; }
  /// Nobody will give them.
  void abandon(std::string_view = {});

  bool is_over() const { return is_over_; }
  /// The first failure's exit code; kDone if all went well.
  int exit() const { return exit_; }

  /// The entry that a command wants worked on, once.
  std::optional<std::string> take_draft() { return std::exchange(draft_, std::nullopt); }
  /// Whether the next entry takes the place of an earlier message.
  bool is_editing() const { return edited_.has_value(); }
  void stop_editing() { edited_.reset(); }

  editor::Completion complete(std::string_view before) const;
  conversation::Conversation::Usage usage();

 private:
  struct Command {
    std::string_view name;
    std::string_view arguments;
    std::string_view summary;
    std::string_view detail;
    void (Chat::*run)(std::string_view argument);
  };
  static const std::vector<Command>& commands();
  static const Command* find_command(std::string_view name);

  void clear(std::string_view);
  void edit(std::string_view text);
  void go_on(std::string_view);
  void help(std::string_view name);
  /// Puts a saved conversation in the place of this one; or the messages of a JSON file, whose last
  /// one is answered if it is the user's. Where that fails, all stays.
  void load(std::string_view path);
  void quit(std::string_view);
  void retry(std::string_view);
  void save(std::string_view arguments);
  void set(std::string_view assignment);
  void show(std::string_view);
  void stats(std::string_view);
  void system(std::string_view text);
  void tools(std::string_view path);
  void undo(std::string_view count);

  void say(const std::string& text);
  void command(std::string_view line);
  void load_messages(const std::string& name, const pipeline::OrderedJson& all);
  /// Shows the answer that `make` makes of a request; false: the error.
  bool answer(
      const std::function<Result<conversation::Answer>(const conversation::Request&)>& make);
  /// Else shows why not.
  template <typename T>
  bool succeeded(const Result<T>& result) {
    if (!result) fail(result.error(), kModelFile);
    return result.has_value();
  }
  void fail(const Error& error, int exit);
  /// Shows what it throws, as any other failure.
  void show_failures_of(const std::function<void()>& act);
  pipeline::OrderedJson messages();
  /// Where calls of tools wait for their results, says so.
  void note_calls();
  /// A text as the result of each call of a tool that waits for one.
  std::vector<pipeline::OrderedJson> results(const std::string& text);
  /// The indices of the user's messages.
  std::vector<size_t> questions();

  Session& session_;
  conversation::Conversation& talk_;
  ChatView& view_;
  ChatSettings settings_;
  const pipeline::Diagnostics opened_;
  pipeline::Diagnostics payload_;  // of the last answer
  std::atomic<bool> is_interrupted_{false};
  bool is_over_ = false;
  int exit_ = kDone;
  std::optional<size_t> edited_;
  std::optional<std::string> draft_;

  struct Totals {
    uint64_t n_answers = 0;
    uint64_t n_tokens = 0;
    uint64_t n_prompt_tokens = 0;
    uint64_t n_reused_tokens = 0;
    double prefill_s = 0;
    double decode_s = 0;
  } totals_;
};

}  // namespace plumbline::cli
