// Files that are no module, or not the module of this build: an error that says so, and nothing
// else happens. Oracle: the codes of runtime.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <random>

#include "backends/wasm/runtime.h"
#include "made_module.h"

namespace plumbline::test {
namespace {

using ::testing::HasSubstr;

class ModuleFiles : public ::testing::Test {
 protected:
  Error error_of(const std::vector<uint8_t>& bytes) {
    auto made = wasm::Runtime::create(folder_.write("m.wasm", as_text(bytes)));
    return made ? Error{PLUMB_OK, {}} : made.error();
  }

  const std::string module_ = PLUMB_BUILD_PLUGIN_DIR "/plumb.wasm.kernels.wasm";
  TemporaryFolder folder_;
};

TEST_F(ModuleFiles, OwnAndMadeOnesAreTaken) {
  auto made = wasm::Runtime::create(module_);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE((*made)->instantiate());
  EXPECT_EQ(error_of(MadeModule().bytes()).message, "");
}

TEST_F(ModuleFiles, NoFile) {
  const auto made = wasm::Runtime::create(folder_.path("none.wasm"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, PLUMB_NOT_FOUND);
  EXPECT_THAT(made.error().message, HasSubstr("none.wasm"));
}

TEST_F(ModuleFiles, NoRegularFile) {
  ASSERT_EQ(mkfifo(folder_.path("pipe.wasm").c_str(), 0600), 0);
  for (const auto& path : {folder_.path(""), folder_.path("pipe.wasm")}) {
    const auto made = wasm::Runtime::create(path);
    ASSERT_FALSE(made) << path;
    EXPECT_EQ(made.error().code, PLUMB_CORRUPT);
    EXPECT_THAT(made.error().message, HasSubstr("no regular file"));
  }
}

TEST_F(ModuleFiles, CutShort) {
  const std::vector<uint8_t> whole = read_bytes(module_);
  ASSERT_GT(whole.size(), 1000u);
  for (const size_t n :
       {size_t{0}, size_t{3}, size_t{7}, size_t{100}, whole.size() / 2, whole.size() - 1000}) {
    const Error error = error_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)});
    EXPECT_EQ(error.code, PLUMB_CORRUPT) << n << " bytes: " << error.message;
    EXPECT_THAT(error.message, HasSubstr("m.wasm"));
  }
}

TEST_F(ModuleFiles, WithBitsFlippedNeverMoreThanAnError) {
  const std::vector<uint8_t> made = MadeModule().bytes();
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    std::vector<uint8_t> broken = made;
    broken[random() % broken.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    const Error error = error_of(broken);
    EXPECT_TRUE(error.code == PLUMB_OK || !error.message.empty());
  }
}

TEST_F(ModuleFiles, TooLargeToBeOne) {
  folder_.write("m.wasm", {});
  std::filesystem::resize_file(folder_.path("m.wasm"), uint64_t{65} << 20);
  const auto made = wasm::Runtime::create(folder_.path("m.wasm"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, PLUMB_CORRUPT);
}

TEST_F(ModuleFiles, NotOfThisBuild) {
  struct Case {
    std::string MadeModule::*part;
    const char* text;
    const char* what;
  };
  const Case cases[] = {
      {&MadeModule::call, "", "exports no call"},
      {&MadeModule::call, "(func (export \"call\") (param i32) (result i32) i32.const 0)",
       "its function call: "},
      {&MadeModule::call, "(global (export \"call\") i32 (i32.const 0))", "of another kind"},
      {&MadeModule::layout, "", "exports no layout"},
      {&MadeModule::layout, "(func (export \"layout\") (result i32) i32.const 1)",
       "of another build"},
      {&MadeModule::layout, "(func (export \"layout\") (result i32) unreachable)", "unreachable"},
      {&MadeModule::stack, "", "exports no __stack_pointer"},
      {&MadeModule::heap, "", "exports no __heap_base"},
      {&MadeModule::heap, "(global (export \"__heap_base\") i32 (i32.const 16777216))",
       "no address inside"},
      {&MadeModule::heap, "(global (export \"__heap_base\") i64 (i64.const 8192))",
       "no address inside"},
      {&MadeModule::memory, "(memory 1 65536 shared)", "expected 0 imports"},
      {&MadeModule::memory, "(import \"env\" \"memory\" (memory 1))", "memory"},
      {&MadeModule::memory, "(import \"env\" \"memory\" (memory 64 65536 shared))", "memory"},
      {&MadeModule::memory, "(import \"env\" \"other\" (func))", "incompatible import"},
      {&MadeModule::more, "(func $f unreachable) (start $f)", "unreachable"},
  };
  for (const Case& one : cases) {
    MadeModule module;
    module.*one.part = one.text;
    const Error error = error_of(module.bytes());
    EXPECT_EQ(error.code, PLUMB_INCOMPATIBLE) << one.text << ": " << error.message;
    EXPECT_THAT(error.message, HasSubstr(one.what)) << one.text;
    EXPECT_THAT(error.message, ::testing::Not(HasSubstr("\n"))) << one.text;
  }
}

TEST_F(ModuleFiles, StackPointerThatCannotBeSet) {
  MadeModule module;
  module.stack = "(global (export \"__stack_pointer\") i32 (i32.const 0))";
  auto made = wasm::Runtime::create(folder_.write("m.wasm", as_text(module.bytes())));
  ASSERT_TRUE(made);
  auto instance = (*made)->instantiate();
  ASSERT_TRUE(instance);
  EXPECT_EQ((*instance)->set_stack(65536).error().code, PLUMB_INCOMPATIBLE);
}

}  // namespace
}  // namespace plumbline::test
