#include "core/editor/line_editor.h"

#include <algorithm>

#include "core/editor/glyphs.h"

namespace plumbline::editor {
namespace {

using Code = Key::Code;

std::string common_start(const std::vector<std::string>& words) {
  std::string start = words.front();
  for (const std::string& word : words) {
    const auto [end, other] = std::mismatch(start.begin(), start.end(), word.begin(), word.end());
    start.erase(end, start.end());
  }
  return start;
}

}  // namespace

void LineEditor::begin(Prompt prompt, std::string_view text) {
  prompt_ = std::move(prompt);
  buffer_.set(editable(text));
  buffer_.end_kills();
  top_row_ = 0;
  wanted_column_.reset();
  history_at_ = history_->entries().size();
  new_entry_.clear();
  choices_.clear();
  was_tab_ = false;
  search_.reset();
}

LineEditor::Outcome LineEditor::press(const Key& key) {
  if (search_) {
    bool is_done = false;
    press_in_search(key, &is_done);
    if (is_done) return Outcome::kMore;
  }
  const bool is_repeated_tab = was_tab_ && key.code == Code::kTab;
  was_tab_ = key.code == Code::kTab;
  choices_.clear();
  const bool is_kill =
      (key.code == Code::kControl && std::string("kuw").find(key.text) != std::string::npos) ||
      (key.has_alt && (key.text == "d" || key.code == Code::kBackspace));
  if (!is_kill) buffer_.end_kills();
  if (key.code != Code::kUp && key.code != Code::kDown) wanted_column_.reset();

  switch (key.code) {
    case Code::kPaste:
      insert(key.text);
      break;
    case Code::kText:
      if (key.has_alt) {
        press_alt(key.text[0]);
      } else {
        insert(key.text);
      }
      break;
    case Code::kControl:
      return press_control(key.text[0]);
    case Code::kEnter:
      return press_enter(key);
    case Code::kTab:
      complete(is_repeated_tab);
      break;
    case Code::kBackTab:
    case Code::kEscape:
      break;
    case Code::kBackspace:
      if (key.has_alt) {
        buffer_.kill(buffer_.word_left(), buffer_.cursor());
      } else {
        buffer_.erase(buffer_.left(), buffer_.cursor());
      }
      break;
    case Code::kDelete:
      buffer_.erase(buffer_.cursor(), buffer_.right());
      break;
    default:
      press_arrow(key);
      break;
  }
  return Outcome::kMore;
}

LineEditor::Outcome LineEditor::press_control(char letter) {
  switch (letter) {
    case 'a':
      buffer_.move_to(buffer_.line_start());
      break;
    case 'b':
      buffer_.move_to(buffer_.left());
      break;
    case 'c':
      return Outcome::kInterrupted;
    case 'd':
      if (buffer_.is_empty()) return Outcome::kEnded;
      buffer_.erase(buffer_.cursor(), buffer_.right());
      break;
    case 'e':
      buffer_.move_to(buffer_.line_end());
      break;
    case 'f':
      buffer_.move_to(buffer_.right());
      break;
    case 'k': {
      // At a line's end the line break itself.
      const size_t end = buffer_.line_end();
      buffer_.kill(buffer_.cursor(), end == buffer_.cursor() ? buffer_.right() : end);
      break;
    }
    case 'l':
      is_clear_wanted_ = true;
      break;
    case 'n':
      press_arrow({.code = Code::kDown});
      break;
    case 'p':
      press_arrow({.code = Code::kUp});
      break;
    case 'r':
      start_search();
      break;
    case 'u': {
      const size_t start = buffer_.line_start();
      buffer_.kill(start == buffer_.cursor() ? buffer_.left() : start, buffer_.cursor());
      break;
    }
    case 'w':
      buffer_.kill(buffer_.blank_word_left(), buffer_.cursor());
      break;
    case 'y':
      rings_ |= !buffer_.yank();
      break;
    case 'z':
      return Outcome::kSuspended;
    default:
      break;
  }
  return Outcome::kMore;
}

void LineEditor::press_alt(char letter) {
  switch (letter) {
    case 'b':
      buffer_.move_to(buffer_.word_left());
      break;
    case 'd':
      buffer_.kill(buffer_.cursor(), buffer_.word_right());
      break;
    case 'f':
      buffer_.move_to(buffer_.word_right());
      break;
    default:
      break;
  }
}

LineEditor::Outcome LineEditor::press_enter(const Key& key) {
  if (key.has_alt || key.has_shift || key.has_control) {
    insert("\n");
    return Outcome::kMore;
  }
  const std::string& text = buffer_.text();
  if (buffer_.cursor() == text.size() && text.ends_with('\\')) {
    buffer_.erase(text.size() - 1, text.size());
    insert("\n");
    return Outcome::kMore;
  }
  return Outcome::kEntered;
}

void LineEditor::press_arrow(const Key& key) {
  const bool is_by_word = key.has_control || key.has_alt;
  switch (key.code) {
    case Code::kLeft:
      buffer_.move_to(is_by_word ? buffer_.word_left() : buffer_.left());
      break;
    case Code::kRight:
      buffer_.move_to(is_by_word ? buffer_.word_right() : buffer_.right());
      break;
    case Code::kHome:
      buffer_.move_to(key.has_control ? 0 : buffer_.line_start());
      break;
    case Code::kEnd:
      buffer_.move_to(key.has_control ? buffer_.text().size() : buffer_.line_end());
      break;
    case Code::kUp:
      move_rows(-1);
      break;
    case Code::kDown:
      move_rows(+1);
      break;
    default:
      break;
  }
}

void LineEditor::insert(std::string_view text) {
  rings_ |= !buffer_.insert(text);
}

void LineEditor::move_rows(int n_rows) {
  const TextLayout rows = layout();
  const Place place = rows.place_of(buffer_.cursor());
  if (n_rows < 0 ? place.row == 0 : place.row + 1 == rows.rows().size()) {
    wanted_column_.reset();
    const size_t n_entries = history_->entries().size();
    const bool is_there = n_rows < 0 ? history_at_ > 0 : history_at_ < n_entries;
    if (is_there) to_history(n_rows < 0 ? history_at_ - 1 : history_at_ + 1);
    return;
  }
  if (!wanted_column_) wanted_column_ = place.column;
  buffer_.move_to(rows.cursor_at({n_rows < 0 ? place.row - 1 : place.row + 1, *wanted_column_}));
}

void LineEditor::to_history(size_t index) {
  const auto& entries = history_->entries();
  if (history_at_ == entries.size()) new_entry_ = buffer_.text();
  history_at_ = index;
  buffer_.set(index == entries.size() ? new_entry_ : entries[index]);
}

void LineEditor::complete(bool is_repeated) {
  const std::string before = buffer_.text().substr(0, buffer_.cursor());
  const Completion completion = completer_ ? completer_(before) : Completion{};
  if (completion.words.empty() || completion.begin > before.size()) {
    rings_ = true;
    return;
  }
  const bool is_one = completion.words.size() == 1;
  const std::string start = common_start(completion.words);
  if (start.size() > before.size() - completion.begin) {
    buffer_.erase(completion.begin, before.size());
    insert(start);
  } else if (is_repeated && !is_one) {
    choices_ = completion.words;
  } else if (!is_one) {
    rings_ = true;
  }
}

void LineEditor::start_search() {
  search_.emplace();
  search_->text = buffer_.text();
}

void LineEditor::search_older(size_t end) {
  const std::optional<size_t> found = history_->find_before(end, search_->query);
  rings_ |= !found;
  if (!found) return;
  search_->found = found;
  const std::string& entry = history_->entries()[*found];
  buffer_.set(entry);
  buffer_.move_to(entry.find(search_->query));
}

/// is_done: the key was the search's; else the search has ended and the key acts on what was found.
void LineEditor::press_in_search(const Key& key, bool* is_done) {
  *is_done = true;
  const size_t n_entries = history_->entries().size();
  const bool is_control = key.code == Code::kControl;
  if (key.code == Code::kText && !key.has_alt) {
    search_->query += key.text;
    search_older(search_->found ? *search_->found + 1 : n_entries);
  } else if (key.code == Code::kBackspace) {
    search_->query.resize(glyph_before(search_->query, search_->query.size()));
    search_->found.reset();
    if (search_->query.empty()) {
      buffer_.set(search_->text);
    } else {
      search_older(n_entries);
    }
  } else if (is_control && key.text == "r") {
    if (!search_->query.empty()) search_older(search_->found.value_or(n_entries));
  } else if (is_control && (key.text == "g" || key.text == "c")) {
    buffer_.set(search_->text);
    search_.reset();
  } else {
    // Up and Down go on from what was found.
    if (search_->found) {
      new_entry_ = search_->text;
      history_at_ = *search_->found;
    }
    search_.reset();
    *is_done = key.code == Code::kEscape;
  }
}

std::string LineEditor::search_title() const {
  const bool has_failed = !search_->query.empty() && !search_->found;
  return (has_failed ? "not found: " : "search: ") + search_->query;
}

}  // namespace plumbline::editor
