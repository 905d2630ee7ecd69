#include "core/kit/template_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/base/os/regular_file.h"

namespace plumbline::kit {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kTemplateBytesMax = 1 << 20;

struct Found {
  std::string name, path;
};

/// The regular files below a folder.
Result<std::vector<Found>> files_below(const std::string& folder) {
  std::vector<Found> found;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error)) {
      found.push_back({at->path().lexically_relative(folder).string(), at->path().string()});
    }
  }
  if (error) return Error{PLUMB_NOT_FOUND, folder + ": " + error.message()};
  return found;
}

/// "ABOUT" of "_ABOUT.md".
std::optional<std::string> value_name(const std::string& file) {
  constexpr std::string_view kEnd = ".md";
  if (!file.starts_with('_') || !file.ends_with(kEnd)) return std::nullopt;
  return file.substr(1, file.size() - 1 - kEnd.size());
}

bool is_name_letter(char c) {
  return (c >= 'A' && c <= 'Z') || c == '_';
}

Result<std::string> replace_names(const std::string& text, const Values& values, bool is_outer) {
  std::string filled;
  size_t at = 0;
  while (at < text.size()) {
    const size_t open = text.find('@', at);
    filled.append(text, at, open - at);
    if (open == text.npos) break;
    const auto* const last =
        std::find_if_not(text.data() + open + 1, text.data() + text.size(), is_name_letter);
    const size_t close = static_cast<size_t>(last - text.data());
    if (close == open + 1 || close == text.size() || text[close] != '@') {
      filled.append(text, open, close - open);
      at = close;
      continue;
    }
    const std::string name = text.substr(open + 1, close - open - 1);
    const auto value = values.find(name);
    if (value == values.end()) return Error{PLUMB_CORRUPT, "@" + name + "@ has no value"};
    if (is_outer) {
      PLUMB_ASSIGN(const std::string inner, replace_names(value->second, values, false));
      filled += inner;
    } else {
      filled += value->second;
    }
    at = close + 1;
  }
  return filled;
}

}  // namespace

Result<std::string> fill(const std::string& text, const Values& values) {
  return replace_names(text, values, true);
}

Result<std::vector<FilledFile>> fill_templates(const std::vector<std::string>& layers,
                                               Values values) {
  std::vector<Found> wanted;
  for (const std::string& layer : layers) {
    PLUMB_ASSIGN(const std::vector<Found> found, files_below(layer));
    for (const Found& file : found) {
      const auto name = value_name(file.name);
      if (!name) {
        wanted.push_back(file);
        continue;
      }
      PLUMB_ASSIGN(std::string text, os::read_regular_file(file.path, kTemplateBytesMax));
      if (!values.try_emplace(*name, std::move(text)).second) {
        return Error{PLUMB_CORRUPT, file.path + ": @" + *name + "@ has a value already"};
      }
    }
  }
  std::ranges::sort(wanted, {}, &Found::name);
  std::vector<FilledFile> filled;
  for (const Found& file : wanted) {
    if (!filled.empty() && filled.back().name == file.name) {
      return Error{PLUMB_CORRUPT, file.path + ": another layer has this file too"};
    }
    PLUMB_ASSIGN(const std::string text, os::read_regular_file(file.path, kTemplateBytesMax));
    auto made = fill(text, values);
    if (!made) return std::move(made).error().at(file.path);
    std::error_code ignored;
    const bool is_program =
        (fs::status(file.path, ignored).permissions() & fs::perms::owner_exec) != fs::perms::none;
    filled.push_back({file.name, *std::move(made), is_program});
  }
  return filled;
}

}  // namespace plumbline::kit
