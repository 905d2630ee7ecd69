// How an entry looks.
#include <algorithm>

#include "core/editor/glyphs.h"
#include "core/editor/line_editor.h"

namespace plumbline::editor {
namespace {

constexpr uint32_t kIndent = 2;  // of every row but the first
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::string_view kBell = "\a";

/// Words in rows of a window.
std::vector<std::string> rows_of(const std::vector<std::string>& words, uint32_t n_columns) {
  std::vector<std::string> rows;
  for (const std::string& word : words) {
    const std::string shown = cut_to_columns(word, n_columns);
    const bool fits = !rows.empty() && columns(rows.back()) + 2 + columns(shown) <= n_columns;
    if (fits) rows.back() += "  " + shown;
    if (!fits) rows.push_back(shown);
  }
  return rows;
}

/// A meter takes a third of a row at most.
bool shows_meter(const Prompt& prompt, const Window& window) {
  return columns(prompt.meter) * 3 <= window.n_columns;
}

}  // namespace

std::string LineEditor::dim(const std::string& text) const {
  if (!has_styles_ || text.empty()) return text;
  return std::string(kDim) + text + std::string(kPlain);
}

TextLayout LineEditor::layout() const {
  const uint32_t meter = shows_meter(prompt_, window_) ? columns(prompt_.meter) : 0;
  return {buffer_.text(), window_.n_columns, {meter + columns(prompt_.mark), kIndent}};
}

Frame LineEditor::frame() {
  const TextLayout rows = layout();
  const Place cursor = rows.place_of(buffer_.cursor());
  const uint32_t usable = std::max(window_.n_columns, 2u) - 1;
  std::vector<std::string> notes = rows_of(choices_, usable);
  if (search_) notes = {cut_to_columns(search_title(), usable)};

  // Notes give way to the entry, which shows at least the cursor's row.
  const size_t n_rows_max = std::max<size_t>(window_.n_rows, 1);
  notes.resize(std::min(notes.size(), n_rows_max - 1));
  const size_t n_shown = std::min(rows.rows().size(), n_rows_max - notes.size());
  if (cursor.row < top_row_) top_row_ = cursor.row;
  if (cursor.row >= top_row_ + n_shown) top_row_ = cursor.row - n_shown + 1;
  top_row_ = std::min(top_row_, rows.rows().size() - n_shown);

  Frame frame;
  for (size_t row = top_row_; row < top_row_ + n_shown; ++row) {
    const std::string meter =
        shows_meter(prompt_, window_) ? shown_line(prompt_.meter, 0) : std::string();
    std::string start = row == 0 ? dim(meter) + prompt_.mark : std::string(kIndent, ' ');
    frame.rows.push_back({start + rows.shown_row(row), rows.rows()[row].n_columns});
  }
  for (const std::string& note : notes)
    frame.rows.push_back({dim(shown_line(note, 0)), columns(note)});
  frame.cursor = {cursor.row - top_row_, cursor.column};
  return frame;
}

std::string LineEditor::paint(const Window& window) {
  window_ = window;
  std::string bytes =
      is_clear_wanted_ ? painter_.paint_on_empty(frame(), window) : painter_.paint(frame(), window);
  if (rings_) bytes += kBell;
  is_clear_wanted_ = false;
  rings_ = false;
  return bytes;
}

std::string LineEditor::paint_anew(const Window& window) {
  std::string bytes = painter_.forget();
  return bytes += paint(window);
}

std::string LineEditor::finish(const Window& window) {
  choices_.clear();
  search_.reset();
  buffer_.move_to(buffer_.text().size());
  std::string bytes = paint(window);
  return bytes += painter_.finish();
}

}  // namespace plumbline::editor
