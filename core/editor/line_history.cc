#include "core/editor/line_history.h"

#include <filesystem>

#include "core/base/os/private_file.h"
#include "core/base/os/regular_file.h"
#include "core/editor/glyphs.h"

namespace plumbline::editor {
namespace {

std::string as_line(std::string_view entry) {
  std::string line;
  for (const char byte : entry) {
    if (byte == '\n') {
      line += "\\n";
    } else if (byte == '\\') {
      line += "\\\\";
    } else {
      line += byte;
    }
  }
  return line + "\n";
}

std::string from_line(std::string_view line) {
  std::string entry;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool is_escaped = line[i] == '\\' && i + 1 < line.size();
    if (is_escaped) ++i;
    entry += is_escaped && line[i] == 'n' ? '\n' : line[i];
  }
  return editable(entry);
}

}  // namespace

Result<LineHistory> LineHistory::open(const std::string& path) {
  LineHistory history;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    PLUMB_ASSIGN(const std::string bytes, os::read_regular_file(path, kFileBytesMax * 2));
    size_t n_lines = 0;
    // A cut entry at the end has no line break: it is not taken, and the next one starts behind it.
    for (size_t begin = 0, end; (end = bytes.find('\n', begin)) != bytes.npos; begin = end + 1) {
      history.keep(from_line(std::string_view(bytes).substr(begin, end - begin)));
      ++n_lines;
    }
    const bool is_cut = !bytes.empty() && bytes.back() != '\n';
    if (is_cut || n_lines > 2 * kEntriesMax || bytes.size() > kFileBytesMax) {
      // What another process appends in this moment is lost: one entry, against a lock for ever.
      std::string kept;
      for (auto entry = history.entries_.rbegin(); entry != history.entries_.rend(); ++entry) {
        const std::string line = as_line(*entry);
        if (kept.size() + line.size() > kFileBytesMax / 2) break;
        kept.insert(0, line);
      }
      PLUMB_TRY(os::replace_private_file(path, kept));
    }
  }
  history.path_ = path;
  return history;
}

void LineHistory::keep(std::string entry) {
  if (entry.empty() || (!entries_.empty() && entries_.back() == entry)) return;
  n_bytes_ += entry.size();
  entries_.push_back(std::move(entry));
  while (entries_.size() > kEntriesMax || n_bytes_ > kBytesMax) {
    n_bytes_ -= entries_.front().size();
    entries_.pop_front();
  }
}

Result<void> LineHistory::add(const std::string& entry) {
  const bool is_new = !entry.empty() && (entries_.empty() || entries_.back() != entry);
  keep(entry);
  if (!is_new || path_.empty() || entry.size() > kKeptBytesMax) return {};
  return os::append_private_file(path_, as_line(entry));
}

std::optional<size_t> LineHistory::find_before(size_t end, std::string_view text) const {
  for (size_t i = end; i-- > 0;) {
    if (entries_[i].find(text) != std::string::npos) return i;
  }
  return {};
}

}  // namespace plumbline::editor
