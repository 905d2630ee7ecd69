#include "recording_engine.h"

#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "backends/cpu/engine.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/wasm/module_layout.h"
#include "plumb/sdk/abi.h"

namespace plumbline::cpu::scalar {
Outcome call(Kernel kernel, const void* args, Range items);
}

namespace plumbline::test {
namespace {

struct Recording {
  std::ofstream file;
  std::string name;
  int n_calls = 0;
};
Recording& recording() {
  static Recording only;
  return only;
}

void put(uint32_t word) {
  recording().file.write(reinterpret_cast<const char*>(&word), sizeof word);
}
void put(uint64_t word) {
  recording().file.write(reinterpret_cast<const char*>(&word), sizeof word);
}
void put_bytes(const void* bytes, uint64_t n) {
  recording().file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(n));
}

/// Which of a kernel's addresses is its scratch, whose contents are its own affair.
uint32_t scratch_ref(cpu::Kernel kernel) {
  if (kernel == cpu::Kernel::kMatmul) return offsetof(cpu::MatmulArgs, scratch) / 8;
  if (kernel == cpu::Kernel::kAttend) return offsetof(cpu::AttendArgs, scratch) / 8;
  return UINT32_MAX;
}

class RecordingEngine final : public cpu::Engine {
 public:
  std::optional<cpu::Memory> allocate(uint64_t bytes) override {
    auto memory = std::make_unique<cpu::Memory>(*cpu::Memory::anonymous(bytes));
    uint8_t* data = memory->data();
    const std::lock_guard lock(mutex_);
    held_[data] = std::move(memory);
    return cpu::Memory::held_by(this, data, bytes, [](void* owner, uint8_t* released) {
      auto* engine = static_cast<RecordingEngine*>(owner);
      const std::lock_guard own_lock(engine->mutex_);
      engine->held_.erase(released);
    });
  }
  std::optional<cpu::Memory> allocate_shared(uint64_t) override { return std::nullopt; }
  std::optional<cpu::Memory> import_fd(int32_t, uint64_t, uint64_t) override {
    return std::nullopt;
  }
  const char* name_of_memory() const override { return "the recording"; }
  std::unique_ptr<cpu::EngineWorker> create_worker(plumb_error*) override {
    return std::make_unique<cpu::EngineWorker>();
  }

  plumb_status call(cpu::EngineWorker&, const cpu::KernelCall& call, cpu::Outcome* outcome,
                    plumb_error* error) override {
    const std::lock_guard lock(mutex_);
    std::vector<uint64_t> args(call.args_bytes / 8);
    std::memcpy(args.data(), call.args, call.args_bytes);
    std::vector<Piece> pieces;
    for (uint32_t i = 0; i < call.n_refs; ++i) {
      if (args[i] == 0) continue;
      const auto place = take(args[i], i == scratch_ref(call.kernel), &pieces);
      if (!place) return fail(error, PLUMB_INTERNAL, "an address in no piece of memory");
      args[i] = *place;
    }
    *outcome = cpu::scalar::call(call.kernel, call.args, call.items);

    const std::string& name = recording().name;
    put(static_cast<uint32_t>(call.kernel));
    put(static_cast<uint32_t>(*outcome));
    put(call.args_bytes);
    put(call.n_refs);
    put(static_cast<uint32_t>(pieces.size()));
    put(static_cast<uint32_t>(name.size()));
    put(call.items.begin);
    put(call.items.end);
    put_bytes(name.data(), name.size());
    put_bytes(args.data(), call.args_bytes);
    for (const Piece& piece : pieces) {
      put(static_cast<uint32_t>(piece.memory->bytes()));
      put(piece.is_scratch ? 1u : 0u);
      put_bytes(piece.before.data(), piece.before.size());
    }
    for (const Piece& piece : pieces) put_changes(piece);
    ++recording().n_calls;
    return PLUMB_OK;
  }

 private:
  struct Piece {
    const cpu::Memory* memory;
    bool is_scratch;
    std::vector<uint8_t> before;  // empty: scratch
  };

  /// An address as the file has it; its piece is added if it is a new one.
  std::optional<uint64_t> take(uint64_t address, bool is_scratch, std::vector<Piece>* pieces) {
    auto* const at = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address));
    const auto next = held_.upper_bound(at);
    if (next == held_.begin()) return std::nullopt;
    const cpu::Memory* memory = std::prev(next)->second.get();
    const auto offset = static_cast<uint64_t>(at - memory->data());
    if (offset > memory->bytes()) return std::nullopt;
    uint64_t index = 0;
    while (index < pieces->size() && (*pieces)[index].memory != memory) ++index;
    if (index == pieces->size()) {
      pieces->push_back({memory, is_scratch, {}});
      if (!is_scratch)
        pieces->back().before.assign(memory->data(), memory->data() + memory->bytes());
    }
    return (index + 1) << 32 | offset;
  }

  static void put_changes(const Piece& piece) {
    struct Run {
      uint64_t begin, end;
    };
    std::vector<Run> runs;
    const uint8_t* after = piece.memory->data();
    for (uint64_t i = 0; i < piece.before.size(); ++i) {
      if (after[i] == piece.before[i]) continue;
      if (runs.empty() || runs.back().end + 16 < i) runs.push_back({i, i});
      runs.back().end = i + 1;
    }
    put(static_cast<uint32_t>(runs.size()));
    for (const Run& run : runs) {
      put(static_cast<uint32_t>(run.begin));
      put(static_cast<uint32_t>(run.end - run.begin));
      put_bytes(after + run.begin, run.end - run.begin);
    }
  }

  std::mutex mutex_;
  std::map<uint8_t*, std::unique_ptr<cpu::Memory>> held_;
};

const char* nothing_is_missing() {
  return nullptr;
}

}  // namespace

void record_to(const std::string& path) {
  recording().file.open(path, std::ios::binary);
  put(uint32_t{0x31435750});
  put(wasm::kArgsLayout);
}

void record_as(const std::string& name) {
  recording().name = name;
}

int finish_recording() {
  if (!recording().file.flush()) throw std::runtime_error("the calls cannot be written");
  return recording().n_calls;
}

}  // namespace plumbline::test

namespace plumbline::cpu {

std::unique_ptr<Engine> create_engine(plumb_str, plumb_status*, plumb_error*) {
  return std::make_unique<test::RecordingEngine>();
}

const EngineVariant* engine_variant(uint32_t index) {
  static constexpr EngineVariant kOnly{"scalar", test::nothing_is_missing, 0, scalar::call};
  return index == 0 ? &kOnly : nullptr;
}

}  // namespace plumbline::cpu
