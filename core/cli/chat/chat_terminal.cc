#include "core/cli/chat/chat_terminal.h"

#include <optional>
#include <string>

#include "core/editor/edit_buffer.h"
#include "core/editor/key_decoder.h"
#include "core/editor/line_editor.h"

namespace plumbline::cli {
namespace {

using editor::LineEditor;
using os::Terminal;

/// A key that begins with Escape comes in one piece, or it was Escape alone.
constexpr std::chrono::milliseconds kEscapeLimit{50};
constexpr std::chrono::milliseconds kNoLimit{-1};

class Desk {
 public:
  Desk(Chat& chat, Terminal& terminal, editor::LineHistory& history, bool has_styles)
      : chat_(chat),
        terminal_(terminal),
        history_(history),
        editor_(
            history, [&chat](std::string_view before) { return chat.complete(before); },
            has_styles) {}

  /// Nothing: the person, or the system, wants it to end.
  std::optional<std::string> next_entry();
  bool is_ended() const { return is_ended_; }

 private:
  enum class Next { kGoOn, kEntered, kLeave };

  void begin();
  /// What was pasted is not all there.
  void tell_lost(const editor::Key& paste, size_t n_before);
  Next press(const editor::Key& key);
  Next interrupted();
  void paint() { terminal_.write(editor_.paint(window())); }
  editor::Window window() const {
    const os::WindowSize size = terminal_.size();
    return {size.n_columns, size.n_rows};
  }
  /// The entry stays above, and what follows begins in a line of its own.
  void leave_entry() { terminal_.write(editor_.finish(window())); }

  Chat& chat_;
  Terminal& terminal_;
  editor::LineHistory& history_;
  editor::KeyDecoder keys_;
  LineEditor editor_;
  std::vector<editor::Key> waiting_;  // pressed, and not looked at yet
  bool was_warned_ = false;
  bool is_ended_ = false;
};

void Desk::begin() {
  const auto usage = chat_.usage();
  editor_.begin(
      {.meter = std::to_string(usage.held_rows) + "/" + std::to_string(usage.capacity_rows) + " ",
       .mark = chat_.is_editing() ? "edit> " : "> "},
      chat_.take_draft().value_or(""));
}

std::optional<std::string> Desk::next_entry() {
  if (!terminal_.set_mode(Terminal::Mode::kKeys)) return {};
  // A Ctrl-C of the answer before is over, a SIGTERM is not.
  chat_.forget_interrupt();
  is_ended_ = terminal_.take_signals().is_ended;
  if (is_ended_) return {};
  was_warned_ = false;
  begin();
  for (;;) {
    // All keys that are there are looked at before anything is painted.
    while (!waiting_.empty()) {
      const editor::Key key = std::move(waiting_.front());
      waiting_.erase(waiting_.begin());
      const Next next = press(key);
      if (next == Next::kGoOn) continue;
      leave_entry();
      static_cast<void>(terminal_.set_mode(Terminal::Mode::kAnswer));
      if (next == Next::kLeave) return {};
      return editor_.text();
    }
    paint();
    const Terminal::Happened happened =
        terminal_.wait(keys_.is_waiting() ? kEscapeLimit : kNoLimit);
    if (happened.is_resumed) terminal_.write(editor_.paint_anew(window()));
    if (happened.is_ended) {
      is_ended_ = true;
      leave_entry();
      return {};
    }
    waiting_ = happened.is_timed_out ? keys_.flush() : keys_.feed(happened.bytes);
    if (happened.is_interrupted) waiting_.push_back({editor::Key::Code::kControl, "c"});
  }
}

void Desk::tell_lost(const editor::Key& paste, size_t n_before) {
  const bool is_left_out = editor_.text().size() == n_before && !paste.text.empty();
  if (!paste.is_cut && !is_left_out) return;
  const size_t most =
      is_left_out ? editor::EditBuffer::kBytesMax : editor::KeyDecoder::kPasteBytesMax;
  leave_entry();
  terminal_.write(std::string(is_left_out ? "(an entry has at most " : "(of a paste the first ") +
                  std::to_string(most >> 20) +
                  (is_left_out ? " MiB: the paste is left out)" : " MiB are taken)") + "\r\n");
}

Desk::Next Desk::press(const editor::Key& key) {
  const size_t n_before = editor_.text().size();
  const LineEditor::Outcome outcome = editor_.press(key);
  if (key.code == editor::Key::Code::kPaste) tell_lost(key, n_before);
  if (outcome != LineEditor::Outcome::kInterrupted) was_warned_ = false;
  switch (outcome) {
    case LineEditor::Outcome::kMore:
      return Next::kGoOn;
    case LineEditor::Outcome::kEntered: {
      if (editor_.text().empty()) return Next::kGoOn;
      if (const auto kept = history_.add(editor_.text()); !kept) {
        leave_entry();
        note("the history is not kept: " + kept.error().message);
      }
      return Next::kEntered;
    }
    case LineEditor::Outcome::kInterrupted:
      return interrupted();
    case LineEditor::Outcome::kEnded:
      return Next::kLeave;
    case LineEditor::Outcome::kSuspended:
      leave_entry();
      terminal_.suspend();
      return Next::kGoOn;
  }
  return Next::kGoOn;
}

Desk::Next Desk::interrupted() {
  if (was_warned_) return Next::kLeave;
  const bool is_empty = editor_.text().empty() && !chat_.is_editing();
  leave_entry();
  if (is_empty && chat_.is_waiting()) {
    chat_.abandon();
    begin();
    return Next::kGoOn;
  }
  chat_.stop_editing();
  begin();
  if (is_empty) {
    terminal_.write("(Ctrl-C once more, or Ctrl-D, leaves)\r\n");
    was_warned_ = true;
  }
  return Next::kGoOn;
}

}  // namespace

int chat_at_terminal(Chat& chat, Terminal& terminal, editor::LineHistory& history,
                     bool has_styles) {
  Desk desk(chat, terminal, history, has_styles);
  while (!chat.is_over()) {
    const std::optional<std::string> entry = desk.next_entry();
    if (!entry) return desk.is_ended() ? kInterrupted : kDone;
    chat.enter(*entry);
  }
  return kDone;
}

}  // namespace plumbline::cli
