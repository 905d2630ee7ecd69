// configs/invalid. Oracle: NAME.error.txt beside each NAME.yaml, compared exactly.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/config/load.h"

namespace plumbline::config {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<fs::path> broken_configs() {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(PLUMB_SOURCE_DIR "/configs/invalid")) {
    if (file.path().extension() == ".yaml") files.push_back(file.path().filename());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Config_Invalid : public ::testing::TestWithParam<fs::path> {
 protected:
  // Messages name the file as it was given, so it is given without the folders of this machine.
  Config_Invalid() : before_(fs::current_path()) {
    fs::current_path(PLUMB_SOURCE_DIR "/configs/invalid");
  }
  ~Config_Invalid() override { fs::current_path(before_); }

 private:
  fs::path before_;
};

TEST_P(Config_Invalid, SaysExactlyWhatIsWrong) {
  const auto resolved = load_config({GetParam().string(), {}, {"../presets"}});
  ASSERT_FALSE(resolved.has_value());
  const std::string message = resolved.error().message + "\n";
  const fs::path golden = fs::path(GetParam()).replace_extension(".error.txt");
  if (std::getenv("PLUMB_UPDATE_GOLDEN") != nullptr)
    std::ofstream(golden, std::ios::binary) << message;
  EXPECT_EQ(message, read_text(golden));
  EXPECT_THAT(message, ::testing::MatchesRegex("([a-z0-9-]+\\.yaml:[0-9]+:[0-9]+: [^\n]+\n)+"));
}

INSTANTIATE_TEST_SUITE_P(Files, Config_Invalid, ::testing::ValuesIn(broken_configs()),
                         [](const auto& instance) {
                           std::string name = instance.param.stem().string();
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace plumbline::config
