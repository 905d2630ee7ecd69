// kernels_harness.h: kernels plugins driven straight through their C interface, with every buffer
// between guard zones.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "plumb/ext/kernels.h"
#include "plumb/sdk/abi.h"

namespace plumbline::test {

/// One variant of a loaded library that offers plumb.kernels/1.
struct KernelsPlugin {
  std::string id;
  std::string variant;  // empty: the library has none
  std::string numerics;
  const plumb_kernels* table = nullptr;
  const plumb_host* host = nullptr;  // for create; null: small_host()
  std::string options_json = "{}";

  /// plumb.cpu.avx512/avx512_vnni; the id alone where there are no variants.
  std::string name() const;
};
inline std::ostream& operator<<(std::ostream& out, const KernelsPlugin& plugin) {
  return out << plugin.name();
}

/// All of a folder, by name, without those that work only where they are named. Fails as
/// open_plugins.
struct FoundKernels {
  std::vector<KernelsPlugin> runnable;
  std::vector<std::string> untested;  // "NAME: why this machine cannot run it"
};
FoundKernels find_kernels(const std::string& folder);

/// A tensor in host memory.
struct HostTensor {
  plumb_format format = PLUMB_F32;
  std::vector<uint64_t> dims;
  std::vector<uint8_t> data;

  plumb_tensor view() const;
};

HostTensor f32_tensor(std::vector<uint64_t> dims, const std::vector<float>& values);

/// What a call answered.
struct Outcome {
  plumb_status status = PLUMB_OK;
  uint32_t op_id = PLUMB_NO_OP;
  std::string message;
};

/// An instance of a backend and everything that a test made with it. Objects live until clear().
class Rig {
 public:
  static constexpr uint32_t kWorkers = 5;

  explicit Rig(const KernelsPlugin& plugin);
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  const KernelsPlugin& plugin() const { return plugin_; }
  const plumb_kernels& table() const { return *plugin_.table; }
  void* self() const { return self_; }
  plumb_handle worker(uint32_t at) const { return workers_[at]; }

  /// Bytes between two guard zones, filled with the guard pattern.
  plumb_slice room(uint64_t bytes);
  /// Values that no op may change.
  template <typename T>
  plumb_slice input(const std::vector<T>& values) {
    const plumb_slice slice = in_out(values);
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    rooms_.back().contents.assign(bytes, bytes + values.size() * sizeof(T));
    return slice;
  }
  /// Values that an op works on in place.
  template <typename T>
  plumb_slice in_out(const std::vector<T>& values) {
    const plumb_slice slice = room(values.size() * sizeof(T));
    write(slice, values.data(), values.size() * sizeof(T));
    return slice;
  }
  template <typename T>
  std::vector<T> values(plumb_slice slice, uint64_t n) const {
    std::vector<T> out(n);
    read(slice, out.data(), n * sizeof(T));
    return out;
  }
  /// n rows of `width` activations after `quantize`.
  plumb_slice quantised(plumb_slice in, uint32_t n_rows, uint32_t width);

  /// Prepared; the tensor must live until clear(). weight() throws a failure as std::runtime_error.
  plumb_handle weight(const HostTensor& tensor, uint32_t uses);
  Outcome try_weight(const HostTensor& tensor, uint32_t uses, plumb_handle* weight);
  plumb_handle kv(uint32_t capacity_rows, uint32_t n_heads, uint32_t head_width,
                  plumb_format format = PLUMB_F32);

  bool supports(const plumb_op_query& query, std::string* reason = nullptr) const;

  /// Plans the op, runs its parts, each with its own worker, and then checks all guard zones and
  /// inputs (one that changed is a test failure). The lowest failing part's error wins. n_parts <=
  /// kWorkers.
  Outcome execute(const plumb_op& op, uint32_t n_parts = 1);
  /// How execute runs parts: at the same time, as at first, or one by one, the last first.
  enum class Parts { kTogether, kLastFirst };
  void run_parts(Parts how) { parts_ = how; }

  void clear();

 private:
  struct Room {
    plumb_handle buffer;
    uint64_t bytes;
    std::vector<uint8_t> contents;  // empty: may change
  };

  void check_rooms() const;
  void write(plumb_slice slice, const void* from, uint64_t bytes);
  void read(plumb_slice slice, void* to, uint64_t bytes) const;

  KernelsPlugin plugin_;
  Parts parts_ = Parts::kTogether;
  void* self_ = nullptr;
  std::vector<plumb_handle> workers_;
  std::vector<Room> rooms_;
  std::vector<plumb_handle> weights_;
  std::vector<plumb_handle> caches_;
};

/// An op record; the caller fills in `as`.
inline plumb_op make_op(uint32_t kind, uint32_t n_rows, uint32_t id = 7) {
  plumb_op op = make_abi<plumb_op>();
  op.kind = kind;
  op.id = id;
  op.n_rows = n_rows;
  return op;
}

}  // namespace plumbline::test
