#include "tests/end_to_end/plumb_command.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/os/process.h"

namespace plumbline::test {

namespace fs = std::filesystem;

PlumbCommand::PlumbCommand() {
  std::string name = testing::TempDir() + "plumb-XXXXXX";
  folder_ = ::mkdtemp(name.data());
}

PlumbCommand::~PlumbCommand() {
  fs::remove_all(folder_);
}

Outcome PlumbCommand::shell(const std::string& script,
                            const std::function<void(std::string_view)>& on_stdout) const {
  os::RunOptions options;
  options.on_stdout = on_stdout;
  options.timeout = std::chrono::minutes(5);  // only against a hang
  const auto result = os::run(
      {"env", "-C", folder_, "-u", "PLUMB_PLUGIN_PATH", "PLUMB_MODEL_DIR=" + folder_ + "/models",
       "XDG_DATA_HOME=" + folder_, "PLUMB=" PLUMB_BUILD_BIN_DIR "/plumb",
       "SOURCE=" PLUMB_SOURCE_DIR, "BUILD=" PLUMB_BUILD_BIN_DIR "/..", "sh", "-c", script},
      options);
  EXPECT_TRUE(result) << result.error().message;
  if (!result) return {};
  EXPECT_NE(result->end, os::RunResult::End::kTimedOut) << script;
  const bool is_signal = result->end == os::RunResult::End::kSignalled;
  return {is_signal ? 128 + result->code : result->code, result->out, result->err};
}

void PlumbCommand::write(const std::string& name, std::string_view bytes) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
}

std::vector<std::string> PlumbCommand::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string& tiny_world() {
  static const std::string bytes =
      read_file(PLUMB_SOURCE_DIR "/golden/models/tiny-world/model.gguf");
  return bytes;
}

std::vector<nlohmann::json> golden_lines(const std::string& name) {
  std::vector<nlohmann::json> lines;
  std::ifstream file(PLUMB_SOURCE_DIR "/golden/" + name);
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  EXPECT_FALSE(lines.empty()) << name;
  return lines;
}

nlohmann::json golden_line(const std::string& file, const std::string& name) {
  for (nlohmann::json& line : golden_lines(file)) {
    if (line["name"] == name) return std::move(line);
  }
  ADD_FAILURE() << file << ": no line named " << name;
  return {};
}

}  // namespace plumbline::test
