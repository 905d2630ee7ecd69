#include "core/editor/line_painter.h"

#include <algorithm>

namespace plumbline::editor {
namespace {

// ECMA-48, and DEC's modes 25 (the cursor is shown) and 7 (rows wrap: not while painting, or a row
// that the terminal finds longer than it is would go on in the next one).
constexpr std::string_view kBegin = "\x1b[?25l\x1b[?7l";
constexpr std::string_view kEnd = "\x1b[?7h\x1b[?25h";
constexpr std::string_view kEraseLine = "\r\x1b[2K";
constexpr std::string_view kEraseBelow = "\r\x1b[J";
constexpr std::string_view kEraseWindow = "\x1b[H\x1b[2J";

std::string sequence(size_t number, char final) {
  return "\x1b[" + std::to_string(number) + final;
}

}  // namespace

std::string LinePainter::to_row(size_t row) {
  std::string bytes;
  if (row < at_row_) bytes = sequence(at_row_ - row, 'A');
  const size_t n_below = row > at_row_ ? row - at_row_ : 0;
  const size_t last = shown_.rows.empty() ? 0 : shown_.rows.size() - 1;
  const size_t n_there = std::min(n_below, last > at_row_ ? last - at_row_ : 0);
  if (n_there > 0) bytes += sequence(n_there, 'B');
  for (size_t i = n_there; i < n_below; ++i) bytes += "\r\n";  // these may scroll
  at_row_ = row;
  return bytes;
}

std::string LinePainter::erase_all(const Window& window) {
  // A terminal that became narrower has broken its rows in two, most do: as many as it has now
  // stand above the cursor.
  size_t n_above = shown_.cursor.column / window.n_columns;
  for (size_t i = 0; i < at_row_; ++i) {
    const uint32_t n_columns = std::max(shown_.rows[i].n_columns, 1u);
    n_above += (n_columns + window.n_columns - 1) / window.n_columns;
  }
  std::string bytes;
  if (n_above > 0) bytes = sequence(n_above, 'A');
  bytes += kEraseBelow;
  shown_ = {};
  at_row_ = 0;
  return bytes;
}

std::string LinePainter::paint(Frame frame, const Window& window) {
  std::string bytes(kBegin);
  if (!shown_.rows.empty() && window != window_) bytes += erase_all(window);
  window_ = window;
  for (size_t i = 0; i < frame.rows.size(); ++i) {
    if (i < shown_.rows.size() && shown_.rows[i] == frame.rows[i]) continue;
    bytes += to_row(i);
    if (i >= shown_.rows.size()) shown_.rows.push_back({});
    bytes += kEraseLine;
    bytes += frame.rows[i].bytes;
  }
  if (shown_.rows.size() > frame.rows.size()) {
    bytes += to_row(frame.rows.size());
    bytes += kEraseBelow;
  }
  bytes += to_row(frame.cursor.row);
  bytes += sequence(frame.cursor.column + 1, 'G');
  bytes += kEnd;
  shown_ = std::move(frame);
  return bytes;
}

std::string LinePainter::paint_on_empty(Frame frame, const Window& window) {
  shown_ = {};
  at_row_ = 0;
  return std::string(kEraseWindow) + paint(std::move(frame), window);
}

std::string LinePainter::forget() {
  shown_ = {};
  at_row_ = 0;
  return std::string(kEraseBelow);
}

std::string LinePainter::finish() {
  std::string bytes;
  if (!shown_.rows.empty()) bytes = to_row(shown_.rows.size() - 1) + "\r\n";
  shown_ = {};
  at_row_ = 0;
  return bytes;
}

}  // namespace plumbline::editor
