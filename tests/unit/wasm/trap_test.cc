// Kernels that trap: an error of the op with the cause in it, and the host goes on. Oracle: the
// words of the WebAssembly specification for each trap.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "backends/wasm/runtime.h"
#include "made_module.h"
#include "plumb/ext/kernels.h"
#include "plumb/plugin.h"
#include "plumb/sdk/abi.h"

namespace plumbline::test {
namespace {

using ::testing::HasSubstr;

TEST(Traps, AreErrorsAndTheInstanceGoesOn) {
  struct Case {
    const char* body;  // of kernel 1
    const char* what;
  };
  const Case cases[] = {
      {"unreachable", "unreachable"},
      {"(i32.load (i32.const -4))", "out of bounds"},
      {"(i32.div_u (i32.const 1) (i32.const 0))", "divide by zero"},
      {"(call $call (local.get $kernel) (local.get $args) (local.get $begin) (local.get $end))",
       "exhausted"},
      {"(i32.load (local.get $args))", "out of bounds"},  // the page that guards a stack
  };
  TemporaryFolder folder;
  for (const Case& one : cases) {
    const MadeModule module =
        MadeModule::with_body("(if (result i32) (i32.eq (local.get $kernel) (i32.const 1)) (then " +
                              std::string(one.body) + ") (else (i32.const 42)))");
    auto runtime = wasm::Runtime::create(folder.write("m.wasm", as_text(module.bytes())));
    ASSERT_TRUE(runtime) << runtime.error().message;
    const auto guarded = (*runtime)->memory().allocate_guarded(8192);
    ASSERT_TRUE(guarded);
    const auto guard = (*runtime)->memory().offset_of(reinterpret_cast<uintptr_t>(guarded->data()));
    auto instance = (*runtime)->instantiate();
    ASSERT_TRUE(instance);
    for (int round = 0; round < 3; ++round) {
      const auto trapped = (*instance)->call(1, *guard, 0, 1);
      ASSERT_FALSE(trapped) << one.body;
      EXPECT_EQ(trapped.error().code, PLUMB_INTERNAL);
      EXPECT_THAT(trapped.error().message, HasSubstr("trapped: ")) << one.body;
      EXPECT_THAT(trapped.error().message, HasSubstr(one.what)) << one.body;
      const auto fine = (*instance)->call(0, 0, 0, 1);
      ASSERT_TRUE(fine) << fine.error().message;
      EXPECT_EQ(*fine, 42u);
    }
  }
}

TEST(Traps, LeaveTheStackWhereItWas) {
  const MadeModule module = [] {
    MadeModule made = MadeModule::with_body(
        "(global.set $sp (i32.sub (global.get $sp) (i32.const 16)))"
        "(if (result i32) (i32.eq (local.get $kernel) (i32.const 1)) (then unreachable) (else "
        "(global.get $sp)))");
    made.stack = R"((global $sp (export "__stack_pointer") (mut i32) (i32.const 0)))";
    return made;
  }();
  TemporaryFolder folder;
  auto runtime = wasm::Runtime::create(folder.write("m.wasm", as_text(module.bytes())));
  ASSERT_TRUE(runtime) << runtime.error().message;
  auto instance = (*runtime)->instantiate();
  ASSERT_TRUE(instance);
  ASSERT_TRUE((*instance)->set_stack(65536));
  EXPECT_FALSE((*instance)->call(1, 0, 0, 1));
  EXPECT_EQ(*(*instance)->call(0, 0, 0, 1), 65520u);
}

/// The plugin's own library, with another module beside it.
class PluginCopy {
 public:
  explicit PluginCopy(const MadeModule& module) {
    namespace fs = std::filesystem;
    const fs::path from = PLUMB_BUILD_PLUGIN_DIR;
    fs::copy_file(from / "plumb.wasm.so", folder_.path("plumb.wasm.so"));
    fs::create_symlink(from / "wasmtime", folder_.path("wasmtime"));
    folder_.write("plumb.wasm.kernels.wasm", as_text(module.bytes()));
    void* library = dlopen(folder_.path("plumb.wasm.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto enter = reinterpret_cast<plumb_plugin_entry_fn>(dlsym(library, PLUMB_PLUGIN_ENTRY));
    plumb_offer offer = make_abi<plumb_offer>();
    offer.version_oldest = PLUMB_ABI_OLDEST;
    offer.version_newest = PLUMB_ABI_VERSION;
    plumb_answer answer = make_abi<plumb_answer>();
    if (enter(&offer, &answer, nullptr) != PLUMB_OK) throw std::runtime_error("entry");
    table_ = static_cast<const plumb_kernels*>(answer.plugin->extension(to_abi(PLUMB_EXT_KERNELS)));
  }
  const plumb_kernels& table() const { return *table_; }

 private:
  TemporaryFolder folder_;
  const plumb_kernels* table_ = nullptr;
};

plumb_status create(const plumb_kernels& table, void** self, plumb_error* error) {
  plumb_kernels_config config = make_abi<plumb_kernels_config>();
  config.n_workers_max = 2;
  return table.create(nullptr, &config, self, error);
}

/// One call of an op of 64 values.
plumb_status run(const MadeModule& module, ErrorBuffer& error) {
  const PluginCopy plugin(module);
  const plumb_kernels& table = plugin.table();
  void* self = nullptr;
  if (const plumb_status status = create(table, &self, error); status != PLUMB_OK) return status;
  plumb_handle buffer = 0, worker = 0;
  EXPECT_EQ(table.alloc(self, 256, 0, &buffer, error), PLUMB_OK);
  EXPECT_EQ(table.worker_create(self, 0, &worker, error), PLUMB_OK);
  plumb_op op = make_abi<plumb_op>();
  op.kind = PLUMB_OP_RMS_NORM;
  op.id = 7;
  op.n_rows = 1;
  op.as.norm = {{buffer, 0}, {buffer, 0}, 0, 0, 1, 64, 1e-6f, 0};
  const plumb_status status = table.execute(self, &op, 1, worker, 0, 1, error);
  table.worker_destroy(self, worker);
  table.free(self, buffer);
  table.destroy(self);
  return status;
}

TEST(TrapsOfThePlugin, NameTheOp) {
  ErrorBuffer error;
  const MadeModule module = MadeModule::with_body(
      "(if (i32.eq (local.get $kernel) (i32.const 1)) (then unreachable)) (i32.const 0)");
  EXPECT_EQ(run(module, error), PLUMB_INTERNAL);
  EXPECT_THAT(std::string(error.message()), HasSubstr("op 7 rms_norm: "));
  EXPECT_THAT(std::string(error.message()), HasSubstr("unreachable"));
}

TEST(TrapsOfThePlugin, AnswersThatNoKernelHasAreErrors) {
  ErrorBuffer error;
  EXPECT_EQ(run(MadeModule::with_body("i32.const 77"), error), PLUMB_INTERNAL);
  EXPECT_THAT(std::string(error.message()), HasSubstr("answered 77"));
  EXPECT_EQ(run(MadeModule::with_body("i32.const 0"), error), PLUMB_OK);
}

TEST(TrapsOfThePlugin, MemoryThatIsFullIsNamed) {
  const PluginCopy plugin{MadeModule()};
  const plumb_kernels& table = plugin.table();
  void* self = nullptr;
  ErrorBuffer error;
  ASSERT_EQ(create(table, &self, error), PLUMB_OK) << error.message();
  plumb_handle buffer = 0;
  EXPECT_EQ(table.alloc(self, uint64_t{5} << 30, 0, &buffer, error), PLUMB_INTERNAL);
  EXPECT_THAT(std::string(error.message()), HasSubstr("the linear memory of 4 GiB has no room"));
  EXPECT_EQ(table.alloc(self, uint64_t{3} << 30, 0, &buffer, error), PLUMB_OK);
  table.free(self, buffer);
  table.destroy(self);
}

}  // namespace
}  // namespace plumbline::test
