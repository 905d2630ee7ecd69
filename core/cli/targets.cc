#include "core/cli/targets.h"

#include <filesystem>

#include "core/cli/session.h"
#include "core/diff/reduce.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

// Devices and pipes take several texts.
bool is_one_file(const std::string& x, const std::string& y) {
  std::error_code ignored;
  if (fs::is_other(x, ignored)) return false;
  // Absolute first: of a name that is not there yet, ./x and x would stay as they are.
  const fs::path whole_x = fs::weakly_canonical(fs::absolute(x, ignored), ignored);
  const fs::path whole_y = fs::weakly_canonical(fs::absolute(y, ignored), ignored);
  return whole_x == whole_y || fs::equivalent(x, y, ignored);
}

}  // namespace

void check_targets(const std::vector<std::string>& written, const std::vector<std::string>& read) {
  const auto refuse = [](const std::string& file, const char* why) {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT, file + ": " + why});
  };
  for (size_t i = 0; i < written.size(); ++i) {
    const std::string& file = written[i];
    if (file.empty()) continue;
    std::error_code ignored;
    const fs::path folder = fs::path(file).parent_path();
    if (fs::is_directory(file, ignored)) refuse(file, "is a folder, expected the name of a file");
    if (!folder.empty() && !fs::is_directory(folder, ignored))
      stop(kModelFile, {PLUMB_NOT_FOUND, file + ": cannot be written: no such folder"});
    for (size_t other = 0; other < i; ++other) {
      if (!written[other].empty() && is_one_file(file, written[other]))
        refuse(file, "is to be written twice: give each output a file of its own");
    }
    for (const std::string& input : read) {
      if (fs::exists(input, ignored) && is_one_file(file, input))
        refuse(file, "is read as well: choose another name for the output");
    }
  }
}

void check_new_folder(const std::string& folder) {
  value_or_stop(diff::check_free(folder), kModelFile);
}

}  // namespace plumbline::cli
