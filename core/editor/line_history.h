// line_history.h: what was entered before, in memory and in a file that survives.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "plumb/sdk/result.h"

namespace plumbline::editor {

/// Oldest first. An entry that is the same as the one before it is not kept twice.
///
/// The file has a line for each entry, with line breaks as "\n" and backslashes as "\\". It is only
/// ever appended to, one write for each entry, or replaced as a whole: a process that is killed
/// leaves at most one cut entry at its end.
class LineHistory {
 public:
  static constexpr size_t kEntriesMax = 1000;
  static constexpr size_t kBytesMax = size_t{64} << 20;
  static constexpr size_t kFileBytesMax = size_t{4} << 20;
  /// Longer entries are for this session only.
  static constexpr size_t kKeptBytesMax = size_t{64} << 10;

  /// In memory only.
  LineHistory() = default;
  /// Of a file, made private (0600) when there is something to keep. A file that cannot be read, is
  /// none, or is too long is an error; then nothing is kept in it.
  static Result<LineHistory> open(const std::string& path);

  const std::deque<std::string>& entries() const { return entries_; }
  /// Fails NOT_FOUND if the file cannot be written; the entry is kept in memory all the same.
  Result<void> add(const std::string& entry);

  /// The newest entry before `end` that contains the text.
  std::optional<size_t> find_before(size_t end, std::string_view text) const;

 private:
  void keep(std::string entry);

  std::deque<std::string> entries_;
  size_t n_bytes_ = 0;
  std::string path_;  // empty: in memory only
};

}  // namespace plumbline::editor
