// line_editor.h: one entry of a person at a terminal: keys in, an entry and bytes for the terminal
// out. Touches no terminal.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/editor/edit_buffer.h"
#include "core/editor/key_decoder.h"
#include "core/editor/line_history.h"
#include "core/editor/line_painter.h"
#include "core/editor/text_layout.h"

namespace plumbline::editor {

struct Prompt {
  std::string meter;  // dim, left out where the window is narrow
  std::string mark = "> ";
};

/// What a word before the cursor can become: the word's start, and whole words in order.
struct Completion {
  size_t begin = 0;
  std::vector<std::string> words;
};
using Completer = std::function<Completion(std::string_view before_cursor)>;

/// Keys are Emacs's, as Readline has them: core/doc/chat.md lists them.
class LineEditor {
 public:
  enum class Outcome { kMore, kEntered, kInterrupted, kEnded, kSuspended };

  /// The history must outlive the editor. has_styles: dim and bold may be used.
  LineEditor(LineHistory& history, Completer completer, bool has_styles)
      : history_(&history), completer_(std::move(completer)), has_styles_(has_styles) {}

  /// A new entry, with a text to begin with.
  void begin(Prompt prompt, std::string_view text = "");
  /// kInterrupted: Ctrl-C. kEnded: Ctrl-D in an empty entry. kSuspended: Ctrl-Z. None of them
  /// changes the entry.
  Outcome press(const Key& key);
  const std::string& text() const { return buffer_.text(); }

  /// Brings the terminal up to date.
  std::string paint(const Window& window);
  /// The same after others have written to the terminal: the entry is shown anew, from the cursor's
  /// row on.
  std::string paint_anew(const Window& window);
  /// The entry is done: it stays on the screen, the cursor is in column 0 below it.
  std::string finish(const Window& window);

 private:
  struct Search {
    std::string query;
    std::optional<size_t> found;
    std::string text;  // before the search
  };

  Outcome press_control(char letter);
  void press_alt(char letter);
  Outcome press_enter(const Key& key);
  void press_arrow(const Key& key);
  void press_in_search(const Key& key, bool* is_done);
  void insert(std::string_view text);
  void complete(bool is_repeated);
  void to_history(size_t index);
  void move_rows(int n_rows);
  void start_search();
  void search_older(size_t end);

  std::string search_title() const;
  TextLayout layout() const;
  Frame frame();
  std::string dim(const std::string& text) const;

  LineHistory* history_;
  Completer completer_;
  bool has_styles_;

  Prompt prompt_;
  EditBuffer buffer_;
  LinePainter painter_;
  Window window_;
  bool is_clear_wanted_ = false;
  bool rings_ = false;  // something could not be done
  size_t top_row_ = 0;  // the first row of the layout that is shown
  std::optional<uint32_t> wanted_column_;  // of a run of Up and Down
  size_t history_at_ = 0;  // entries().size(): the new entry
  std::string new_entry_;  // while another one is shown
  std::vector<std::string> choices_;  // shown below the entry
  bool was_tab_ = false;
  std::optional<Search> search_;
};

}  // namespace plumbline::editor
