// native_engine.cc: kernels as functions of this very library.
#include <string_view>

#include "engine.h"
#include "plumb/sdk/abi.h"

namespace plumbline::cpu {
namespace {

class NativeEngine final : public Engine {
 public:
  explicit NativeEngine(CallFn function) : call_(function) {}

  std::optional<Memory> allocate(uint64_t bytes) override { return Memory::anonymous(bytes); }
  std::optional<Memory> allocate_shared(uint64_t bytes) override { return Memory::shared(bytes); }
  std::optional<Memory> import_fd(int32_t fd, uint64_t offset, uint64_t bytes) override {
    return Memory::of_file(fd, offset, bytes);
  }
  const char* name_of_memory() const override { return "the system"; }
  std::unique_ptr<EngineWorker> create_worker(plumb_error*) override {
    return std::make_unique<EngineWorker>();
  }
  plumb_status call(EngineWorker&, const KernelCall& kernel_call, Outcome* outcome,
                    plumb_error*) override {
    *outcome = call_(kernel_call.kernel, kernel_call.args, kernel_call.items);
    return PLUMB_OK;
  }

 private:
  CallFn call_;
};

}  // namespace

std::unique_ptr<Engine> create_engine(plumb_str wanted, plumb_status* status, plumb_error* error) {
  const std::string_view name = to_view(wanted);
  const char* missing = nullptr;
  for (uint32_t i = 0; const EngineVariant* variant = engine_variant(i); ++i) {
    if (!name.empty() && name != variant->name) continue;
    missing = variant->missing();
    if (missing == nullptr) return std::make_unique<NativeEngine>(variant->call);
    if (!name.empty()) break;
  }
  *status = missing == nullptr ? failf(error, PLUMB_INVALID_CONFIG,
                                       "variant %.*s: unknown; the best of this library is %s",
                                       static_cast<int>(name.size() < 64 ? name.size() : 64),
                                       name.data(), engine_variant(0)->name)
                               : failf(error, PLUMB_UNSUPPORTED, "this machine has no %s", missing);
  return nullptr;
}

}  // namespace plumbline::cpu
