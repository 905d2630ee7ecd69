// line_painter.h: rows of text that change -> the fewest bytes that a terminal needs to show them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/editor/text_layout.h"

namespace plumbline::editor {

struct Window {
  uint32_t n_columns = 80;
  uint32_t n_rows = 24;

  bool operator==(const Window&) const = default;
};

struct Frame {
  struct Row {
    std::string bytes;  // leave the terminal's cursor in this row, and its style plain
    uint32_t n_columns = 0;

    bool operator==(const Row&) const = default;
  };

  std::vector<Row> rows;  // at least one, at most the window's
  Place cursor;
};

/// Rows are painted one below the other from where the cursor is when the first frame comes, in
/// column 0; the window scrolls where it must.
class LinePainter {
 public:
  /// From what is shown to this frame.
  std::string paint(Frame frame, const Window& window);
  /// The window is emptied first.
  std::string paint_on_empty(Frame frame, const Window& window);
  /// Others have written over it: the next frame is a new one, painted from the cursor's row on.
  std::string forget();
  /// The cursor goes below the last row; the next frame is a new one.
  std::string finish();

 private:
  std::string to_row(size_t row);
  /// To the first row, with everything from there on gone.
  std::string erase_all(const Window& window);

  Frame shown_{};
  Window window_;
  size_t at_row_ = 0;
};

}  // namespace plumbline::editor
