// Oracle: core/doc/decisions/0005-include-paths.md. Each rule is first shown a line that breaks it,
// so that a rule that sees nothing is noticed.
#include "tests/architecture/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace plumbline::architecture {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const fs::path kRoot = PLUMB_SOURCE_DIR;

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Architecture_Rules, SeeWhatBreaksThem) {
  struct Case {
    const char* path;
    const char* line;
    const char* what;
  };
  const Case broken[] = {
      {"plugins/samplers/core/a.cc", "#include \"core/base/x.h\"",
       "plugins see core/abi, core/sdk and themselves"},
      {"backends/cpu/a.cc", "#include \"backends/reference/x.h\"", "plugins see core/abi"},
      {"backends/cpu/a.cc", "#include \"backends/wasm/x.h\"", "plugins see core/abi"},
      {"backends/wasm/a.cc", "#include \"backends/reference/x.h\"", "plugins see core/abi"},
      {"plugins/a/b/c.cc", "#include \"plugins/a/x/c.h\"", "plugins see core/abi"},
      {"plugins/a/b/c.cc", "#include \"../x/c.h\"", "hides which room"},
      {"core/base/a.cc", "#include \"core/host/host.h\"", "core/base may not see core/host"},
      {"core/host/a.cc", "#include \"core/cli/main.h\"", "core/host may not see core/cli"},
      {"core/model/a.cc", "#include \"backends/cpu/kernels/panel.h\"",
       "core/model may not see backends/cpu"},
      {"core/attic/a.cc", "#include \"core/base/x.h\"", "core/attic is not in the table"},
      {"core/abi/plumb/a.h", "#include <stdbool.h>", "the ABI includes stddef.h and stdint.h only"},
      {"core/abi/plumb/a.h", "#include \"plumb/sdk/abi.h\"", "the ABI may not see the SDK"},
      {"core/abi/plumb/a.h", "/* Does it. [main-thread] */", "unknown thread tag [main-thread]"},
      {"core/sdk/plumb/sdk/a.h", "#include \"core/base/x.h\"",
       "the public headers see only plumb/"},
      {"core/cli/a.cc", "#include <yaml-cpp/yaml.h>", "yaml-cpp is seen only by core/config/"},
      {"core/config/a.cc", "#include <boost/dll.hpp>", "Boost is seen only by core/host/"},
      {"core/base/a.cc", "#include <openssl/evp.h>", "OpenSSL is seen only by core/hash/"},
      {"core/model/a.cc", "#include <CLI/CLI.hpp>", "CLI11 is seen only by core/cli/"},
      {"plugins/a/b/c.cc", "#include <spdlog/spdlog.h>", "the logger is seen only by core/"},
      {"backends/cpu/a.cc", "#include <wasmtime.h>",
       "the WebAssembly engine is seen only by backends/wasm/"},
      {"backends/gpu/other.cc", "#include <sys/mman.h>",
       "the operating system is seen only by core/base/os/"},
      {"core/host/a.cc", "  #include <sys/mman.h>",
       "the operating system is seen only by core/base/os/"},
      {"core/host/a.cc", "  std::cout << 1;", "only the command line prints"},
      {"core/host/a.cc", "  printf(\"x\");", "only the command line prints"},
      {"plugins/a/b/c.cc", "  std::abort();", "only the command line ends the process"},
  };
  for (const Case& item : broken) {
    EXPECT_THAT(violations(item.path, item.line), ElementsAre(HasSubstr(item.what)))
        << item.path << " " << item.line;
  }
  const std::string long_file(20000, '\n');
  EXPECT_THAT(violations("core/host/a.cc", long_file), IsEmpty());
  std::string much_code;
  for (int i = 0; i < 601; ++i) much_code += "int x;\n";
  EXPECT_THAT(violations("core/host/a.cc", much_code), ElementsAre(HasSubstr("601 lines of code")));
}

TEST(Architecture_Rules, LetPassWhatKeepsThem) {
  const std::pair<const char*, const char*> kept[] = {
      {"plugins/a/b/c.cc",
       "#include \"plumb/sdk/abi.h\"\n#include \"neighbour.h\"\n#include \"plugins/a/b/d.h\""},
      {"backends/wasm/a.cc", "#include \"backends/cpu/engine.h\"\n#include <wasmtime.h>"},
      {"backends/cpu/avx2/a.cc",
       "#include \"backends/cpu/kernels/panel.h\"\n#include <immintrin.h>"},
      {"core/pipeline/a.cc", "#include \"core/model/x.h\"\n#include \"core/config/y.h\""},
      {"backends/gpu/memory.cc", "#include <sys/mman.h>"},
      {"core/base/os/a.cc", "#include <sys/mman.h>\n#include \"core/base/os/a.h\""},
      {"core/host/a.cc",
       "std::snprintf(text, sizeof text, \"printf(%d)\", 1);  // not printf(\nlogger.log(x);"},
      {"core/cli/a.cc", "std::fprintf(stderr, \"x\"); std::exit(2);"},
      {"core/abi/plumb/a.h",
       "/* Rows f32[n,K,C]. [one-at-a-time for each cache] [any-thread] [worker] */"},
  };
  for (const auto& [path, text] : kept) EXPECT_THAT(violations(path, text), IsEmpty()) << text;
}

TEST(Architecture, EverySourceFileKeepsTheRules) {
  std::vector<std::string> all;
  int n_files = 0;
  for (const char* room : {"core", "backends", "plugins"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / room)) {
      static const std::set<std::string> kSources = {".h", ".c", ".cc", ".inc"};
      if (!entry.is_regular_file() || kSources.count(entry.path().extension().string()) == 0)
        continue;
      ++n_files;
      const auto found =
          violations(fs::relative(entry.path(), kRoot).generic_string(), read_text(entry.path()));
      all.insert(all.end(), found.begin(), found.end());
    }
  }
  EXPECT_GT(n_files, 50) << "the search found too few files to be true";
  EXPECT_THAT(all, IsEmpty()) << testing::PrintToString(all);
}

/// Records are numbered 0001, 0002, ... without a gap, fit on a page, and say when they would be
/// wrong.
TEST(Architecture, DecisionRecordsAreNumberedAndShort) {
  std::multiset<std::string> numbers;
  const std::regex name(R"((\d{4})-[a-z0-9-]+\.md)");
  for (const auto& entry : fs::directory_iterator(kRoot / "core/doc/decisions")) {
    const std::string file = entry.path().filename().string();
    std::smatch match;
    ASSERT_TRUE(std::regex_match(file, match, name)) << file;
    numbers.insert(match[1]);
    const std::string text = read_text(entry.path());
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40) << file;
    EXPECT_THAT(text, HasSubstr("What would change our mind")) << file;
  }
  int expected = 0;
  for (const std::string& number : numbers)
    EXPECT_EQ(std::stoi(number), ++expected) << "a gap or a number used twice";
  EXPECT_GT(expected, 0);
}

/// A room that can be cut out with its folder has its own build file.
TEST(Architecture, EveryPluginRoomCanBeBuiltAlone) {
  for (const auto& kind : fs::directory_iterator(kRoot / "plugins")) {
    if (!kind.is_directory()) continue;
    for (const auto& room : fs::directory_iterator(kind)) {
      const bool is_alone = !room.is_directory() || fs::exists(room.path() / "CMakeLists.txt");
      EXPECT_TRUE(is_alone) << room.path();
    }
  }
}

}  // namespace
}  // namespace plumbline::architecture
