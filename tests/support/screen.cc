#include "tests/support/screen.h"

#include <wchar.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>

#include "plumb/sdk/utf8.h"

namespace plumbline::test {

Screen::Screen(size_t n_columns, size_t n_rows, bool joins)
    : n_columns_(n_columns), n_rows_(n_rows), joins_(joins), rows_(n_rows) {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // for wcwidth
}

void Screen::feed(std::string_view bytes) {
  pending_ += bytes;
  size_t at = 0;
  while (at < pending_.size()) {
    const char byte = pending_[at];
    if (byte == '\x1b') {
      if (at + 1 == pending_.size()) break;
      if (pending_[at + 1] != '[') {
        unknown_ += pending_.substr(at, 2);
        at += 2;
        continue;
      }
      size_t end = at + 2;
      while (end < pending_.size() && (pending_[end] < 0x40 || pending_[end] > 0x7e)) ++end;
      if (end == pending_.size()) break;
      obey(std::string_view(pending_).substr(at + 2, end - at - 1));
      at = end + 1;
      continue;
    }
    const utf8::Decoded next = utf8::decode(pending_, at);
    if (next.form == utf8::Form::kTruncated) break;
    put(next.code_point, std::string_view(pending_).substr(at, next.n_bytes));
    at += next.n_bytes;
  }
  pending_.erase(0, at);
}

void Screen::line_feed() {
  if (at_row_ + 1 < n_rows_) {
    ++at_row_;
  } else {
    ++top_;
  }
  if (rows_.size() < top_ + n_rows_) rows_.resize(top_ + n_rows_);
}

void Screen::put(char32_t code_point, std::string_view bytes) {
  switch (code_point) {
    case '\r':
      at_column_ = 0;
      return;
    case '\n':
      line_feed();
      return;
    case '\b':
      at_column_ -= at_column_ > 0;
      return;
    case '\a':
      ++n_bells_;
      return;
    default:
      break;
  }
  const int width = wcwidth(static_cast<wchar_t>(code_point));
  if (width < 0) {
    unknown_ += bytes;
    return;
  }
  const bool is_skin_tone = code_point >= 0x1F3FB && code_point <= 0x1F3FF;
  const bool joins = width == 0 || (joins_ && (is_join_ || is_skin_tone));
  is_join_ = code_point == 0x200D;
  if (joins) {
    size_t cell = std::min(at_column_, row().size());
    while (cell > 0 && row()[cell - 1].empty()) --cell;
    if (cell > 0) row()[cell - 1] += bytes;
    return;
  }
  const auto n = static_cast<size_t>(width);
  if (at_column_ + n > n_columns_ && wraps_) {
    at_column_ = 0;
    line_feed();
  }
  at_column_ = std::min(at_column_, n_columns_ - n);
  if (row().size() < at_column_ + n) row().resize(at_column_ + n, " ");
  row()[at_column_] = bytes;
  if (n == 2) row()[at_column_ + 1] = "";
  at_column_ += n;
}

void Screen::obey(std::string_view sequence) {
  const std::string parameters(sequence.substr(0, sequence.size() - 1));
  const size_t number = std::strtoul(parameters.c_str(), nullptr, 10);
  const size_t count = std::max<size_t>(number, 1);
  const auto erase_to_end = [&] { row().resize(std::min(row().size(), at_column_)); };
  switch (sequence.back()) {
    case 'A':
      at_row_ -= std::min(count, at_row_);
      return;
    case 'B':
      at_row_ = std::min(at_row_ + count, n_rows_ - 1);
      return;
    case 'C':
      at_column_ = std::min(at_column_ + count, n_columns_ - 1);
      return;
    case 'D':
      at_column_ -= std::min(count, at_column_);
      return;
    case 'G':
      at_column_ = std::min(count, n_columns_) - 1;
      return;
    case 'H':
      at_row_ = at_column_ = 0;
      return;
    case 'm':
      return;
    case 'K':
      if (number == 2) row().clear();
      if (number == 0) erase_to_end();
      return;
    case 'J':
      if (number == 0) erase_to_end();
      for (size_t i = number == 2 ? 0 : at_row_ + 1; i < n_rows_; ++i) rows_[top_ + i].clear();
      return;
    default:
      break;
  }
  if (sequence == "?2004h" || sequence == "?2004l") {
    is_paste_bracketed_ = sequence.back() == 'h';
  } else if (sequence == "?25h" || sequence == "?25l") {
    is_cursor_shown_ = sequence.back() == 'h';
  } else if (sequence == "?7h" || sequence == "?7l") {
    wraps_ = sequence.back() == 'h';
  } else {
    unknown_ += sequence;
  }
}

void Screen::resize(size_t n_columns, size_t n_rows) {
  std::vector<Row> broken;
  size_t cursor = 0;  // its row in `broken`
  size_t n_used = top_ + at_row_ + 1;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].empty()) n_used = std::max(n_used, i + 1);
  }
  for (size_t i = 0; i < n_used; ++i) {
    Row rest = rows_[i];
    if (i == top_ + at_row_) cursor = broken.size() + at_column_ / n_columns;
    do {
      const size_t n = std::min(rest.size(), n_columns);
      broken.emplace_back(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(n));
      rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(n));
    } while (!rest.empty());
  }
  rows_ = std::move(broken);
  rows_.resize(std::max(rows_.size(), cursor + 1));
  n_columns_ = n_columns;
  n_rows_ = n_rows;
  at_column_ %= n_columns;
  // The window ends with the last row that is used.
  top_ = rows_.size() > n_rows ? rows_.size() - n_rows : 0;
  top_ = std::min(top_, cursor);
  at_row_ = cursor - top_;
  rows_.resize(std::max(rows_.size(), top_ + n_rows_));
}

std::string Screen::text(size_t from, bool has_cursor) const {
  std::string all;
  size_t n_kept = 0;
  for (size_t i = from; i < rows_.size() && i < top_ + n_rows_; ++i) {
    const bool is_cursors = has_cursor && i == top_ + at_row_;
    std::string line;
    for (size_t column = 0; column < std::max(rows_[i].size(), at_column_); ++column) {
      if (is_cursors && column == at_column_) line += '|';
      line += column < rows_[i].size() ? rows_[i][column] : " ";
    }
    if (is_cursors && at_column_ >= std::max(rows_[i].size(), at_column_)) line += '|';
    while (line.ends_with(' ')) line.pop_back();
    all += line;
    if (!line.empty()) n_kept = all.size();
    all += '\n';
  }
  all.resize(n_kept);
  return all;
}

std::string Screen::text_with_cursor() const {
  return text(top_, true);
}

std::string Screen::all_text() const {
  return text(0, false);
}

}  // namespace plumbline::test
