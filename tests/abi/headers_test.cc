// Oracle: the C and C++ compilers. Every public header compiles alone, without a warning, in the
// standards that it promises.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/os/process.h"

namespace plumbline {
namespace {

const std::string kAbi = PLUMB_SOURCE_DIR "/core/abi";
const std::string kSdk = PLUMB_SOURCE_DIR "/core/sdk";

std::vector<std::string> headers_in(const std::string& folder) {
  std::vector<std::string> headers;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".h") headers.push_back(entry.path().string());
  }
  return headers;
}

void expect_compiles(const std::string& compiler, const std::string& language,
                     const std::string& standard, const std::string& header,
                     const std::vector<std::string>& more = {}) {
  if (compiler.empty()) GTEST_SKIP() << "that compiler is not installed";
  std::vector<std::string> command = {compiler,        "-x",      language,    "-std=" + standard,
                                      "-fsyntax-only", "-Wall",   "-Wextra",   "-Wpedantic",
                                      "-Wshadow",      "-Werror", "-I" + kAbi, "-I" + kSdk,
                                      "-include",      header,    "/dev/null"};
  command.insert(command.end(), more.begin(), more.end());
  const auto result = os::run(command);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->succeeded()) << header << ": " << result->err;
}

struct Compiler {
  const char* label;
  const char* language;
  const char* standard;
  const char* path;
};

class Headers : public testing::TestWithParam<Compiler> {};
INSTANTIATE_TEST_SUITE_P(Abi, Headers,
                         testing::Values(Compiler{"c11", "c", "c11", PLUMB_C_COMPILER},
                                         Compiler{"c17", "c", "c17", PLUMB_C_COMPILER},
                                         Compiler{"cxx20", "c++", "c++20", PLUMB_CXX_COMPILER},
                                         Compiler{"clang_c11", "c", "c11", PLUMB_CLANG},
                                         Compiler{"clang_c17", "c", "c17", PLUMB_CLANG},
                                         Compiler{"clang_cxx20", "c++", "c++20", PLUMB_CLANG}),
                         [](const auto& test) { return std::string(test.param.label); });

TEST_P(Headers, OfTheAbiCompileAlone) {
  const Compiler& compiler = GetParam();
  for (const std::string& header : headers_in(kAbi)) {
    expect_compiles(compiler.path, compiler.language, compiler.standard, header, {});
  }
}

/// Kernels are built so; with exceptions the whole project compiles them.
TEST_P(Headers, OfTheSdkCompileAloneWithoutExceptions) {
  const Compiler& compiler = GetParam();
  if (std::string(compiler.language) != "c++") return;
  for (const std::string& header : headers_in(kSdk)) {
    expect_compiles(compiler.path, compiler.language, compiler.standard, header,
                    {"-fno-exceptions", "-fno-rtti"});
  }
}

}  // namespace
}  // namespace plumbline
