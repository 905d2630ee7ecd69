// How answers look at a terminal.
#include "core/cli/chat/chat_terminal.h"
#include "core/editor/word_flow.h"

namespace plumbline::cli {
namespace {

using conversation::Answer;
using conversation::Conversation;

constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kPlain = "\x1b[0m";

class TerminalView : public ChatView {
 public:
  TerminalView(os::Terminal& terminal, bool has_styles, bool is_quiet)
      : terminal_(terminal), has_styles_(has_styles), is_quiet_(is_quiet) {}

  void answer_begins(const pipeline::Diagnostics&) override { is_thought_ = false; }

  void thought(std::string_view text) override {
    is_thought_ = true;
    flow(text);
  }

  void text(std::string_view text) override {
    if (is_thought_) {
      end_thought();
      // The blank lines between the two are ours.
      while (text.starts_with('\n')) text.remove_prefix(1);
      terminal_.write("\n");
    }
    flow(text);
  }

  void answer_ends(const Answer& answer, const Conversation::Usage&) override {
    if (is_thought_) end_thought();
    end_line();
    if (const std::string evicted = evicted_of(answer); !evicted.empty()) noted(evicted);
    if (is_quiet_) return;
    std::string line = speed_of(answer);
    if (answer.stop_reason == pipeline::StopReason::kCancelled) line += ", cancelled";
    if (answer.stop_reason == pipeline::StopReason::kMaxOutput)
      line += ", cut there (generation.max_tokens); /continue goes on";
    if (answer.stop_reason == pipeline::StopReason::kContextFull)
      line += ", the context is full; /clear begins anew";
    noted(line);
    terminal_.write("\n");
  }

  void told(std::string_view text) override {
    end_line();
    const std::string shown = wrapped(text);
    terminal_.write(shown + (shown.ends_with('\n') ? "\n" : "\n\n"));
  }
  void noted(std::string_view line) override { styled(kDim, line); }
  void failed(const Error& error) override {
    if (is_thought_) end_thought();
    styled(kRed, "error: " + error.message);
  }

 private:
  /// A terminal's output mode is as it was: '\n' is enough.
  void flow(std::string_view text) {
    write_piece(flow_.feed(harmless(text), terminal_.size().n_columns));
  }
  void end_line() {
    const bool is_inside = !flow_.is_at_line_start();
    write_piece(flow_.finish(terminal_.size().n_columns));
    if (is_inside) terminal_.write("\n");
  }
  void end_thought() {
    end_line();
    is_thought_ = false;
  }
  void write_piece(const std::string& piece) {
    if (!piece.empty()) terminal_.write(is_thought_ ? in_style(kDim, piece) : piece);
  }
  void styled(std::string_view style, std::string_view text) {
    end_line();
    terminal_.write(in_style(style, wrapped(text)) + "\n");
  }
  /// Plain again behind it, so that a stop between two pieces leaves the shell its own style.
  std::string in_style(std::string_view style, const std::string& text) const {
    if (!has_styles_) return text;
    return std::string(style) + text + std::string(kPlain);
  }
  std::string wrapped(std::string_view text) const {
    const uint32_t n_columns = terminal_.size().n_columns;
    editor::WordFlow flow;
    const std::string begun = flow.feed(harmless(text), n_columns);
    return begun + flow.finish(n_columns);
  }

  os::Terminal& terminal_;
  bool has_styles_;
  bool is_quiet_;
  bool is_thought_ = false;
  editor::WordFlow flow_;
};

}  // namespace

std::unique_ptr<ChatView> make_terminal_view(os::Terminal& terminal, bool has_styles,
                                             bool is_quiet) {
  return std::make_unique<TerminalView>(terminal, has_styles, is_quiet);
}

}  // namespace plumbline::cli
