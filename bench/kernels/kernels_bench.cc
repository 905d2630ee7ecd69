// kernels_bench.cc: every weight format as product with one row (a matrix larger than any cache:
// GB/s of prepared weights) and as product with 512 rows (GMAC/s), with quantised and f32
// activations, on one and two threads, for every variant that this machine can run. "roofline %" is
// the share of what the same threads do just before: read memory with prefetching, or multiply and
// add in registers.
//
//   kernels_bench --benchmark_filter='avx2_vnni/.*Q4_1'
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "plumb/ext/kernels.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"
#include "plumb/sdk/kernels/variants.h"
#include "roofline.h"

namespace plumbline::bench {
namespace {

constexpr uint32_t kThreadsMax = 2;
constexpr uint64_t kStreamBytes = uint64_t{192} << 20;  // far beyond a last-level cache
constexpr uint32_t kWidth = 2048;
constexpr uint32_t kGemmRows = 512;

void require(plumb_status status, const ErrorBuffer& error) {
  if (status != PLUMB_OK) throw std::runtime_error(error.take(status).message);
}

/// The kernels of a library, or null if it has none or cannot run here.
const plumb_kernels* load(const std::filesystem::path& library, std::string* id) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  const auto entry = reinterpret_cast<plumb_plugin_entry_fn>(dlsym(handle, PLUMB_PLUGIN_ENTRY));
  plumb_offer offer = make_abi<plumb_offer>();
  offer.version_oldest = PLUMB_ABI_OLDEST;
  offer.version_newest = PLUMB_ABI_VERSION;
  plumb_answer answer = make_abi<plumb_answer>();
  ErrorBuffer error;
  require(entry(&offer, &answer, error), error);
  *id = to_string(answer.plugin->id);
  if (answer.plugin->probe(error) != PLUMB_OK) return nullptr;
  return static_cast<const plumb_kernels*>(answer.plugin->extension(to_abi(PLUMB_EXT_KERNELS)));
}

/// Blocks of random codes with scales of ordinary size: subnormal scales would time the processor's
/// slow path.
std::vector<uint8_t> random_weights(plumb_format format, uint64_t bytes) {
  std::mt19937_64 random(1);
  std::vector<uint8_t> data(bytes);
  visit_block_type(format, [&]<typename Block>(std::type_identity<Block>) {
    for (uint64_t at = 0; at + sizeof(Block) <= bytes; at += sizeof(Block)) {
      Block block;
      uint64_t words[sizeof(Block) / 8 + 1];
      for (uint64_t& word : words) word = random();
      std::memcpy(&block, words, sizeof block);
      if constexpr (std::is_same_v<Block, block_f32>) {
        block.x = static_cast<float>(words[0] % 1000) * 0.001f;
      } else if constexpr (requires { block.x; }) {
        block.x = format == PLUMB_F16 ? f32_to_f16(0.5f) : f32_to_bf16(0.5f);
      } else {
        block.d = f32_to_f16(0.01f);
        if constexpr (requires { block.m; }) block.m = f32_to_f16(-0.05f);
        if constexpr (requires { block.dmin; }) block.dmin = f32_to_f16(0.01f);
      }
      std::memcpy(data.data() + at, &block, sizeof block);
    }
  });
  return data;
}

/// One prepared matrix with its operands.
class Product {
 public:
  Product(const plumb_kernels& kernels, const std::string& variant, plumb_format format,
          plumb_format in_format, uint32_t n_out, uint32_t n_rows)
      : kernels_(kernels) {
    plumb_kernels_config config = make_abi<plumb_kernels_config>();
    config.n_workers_max = kThreadsMax;
    config.variant = to_abi(variant);
    require(kernels_.create(nullptr, &config, &self_, error_), error_);

    plumb_tensor tensor = make_abi<plumb_tensor>();
    tensor.format = format;
    tensor.name = to_abi("weight");
    tensor.rank = 2;
    tensor.dims[0] = n_out;
    tensor.dims[1] = kWidth;
    tensor.dims[2] = tensor.dims[3] = 1;
    const std::vector<uint8_t> data =
        random_weights(format, *tensor_bytes(format, std::span(tensor.dims, 2)));
    tensor.data = {data.data(), data.size()};
    require(kernels_.prepare_bytes(self_, &tensor, PLUMB_USE_MATMUL, &weight_bytes_, error_),
            error_);
    plumb_handle weight = 0;
    require(
        kernels_.prepare(self_, &tensor, PLUMB_USE_MATMUL, buffer(weight_bytes_), &weight, error_),
        error_);

    std::vector<float> values(uint64_t{n_rows} * kWidth);
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    for (float& x : values) x = normal(random);
    const plumb_slice in = buffer(values.size() * sizeof(float));
    require(kernels_.write(self_, in, values.data(), values.size() * sizeof(float), error_),
            error_);

    for (plumb_handle& worker : workers_) {
      require(
          kernels_.worker_create(self_, static_cast<uint32_t>(&worker - workers_), &worker, error_),
          error_);
    }
    op_ = make_abi<plumb_op>();
    op_.n_rows = n_rows;
    plumb_slice operand = in;
    if (in_format == PLUMB_ACT_Q8) {
      operand = buffer(kernels_.activation_bytes(self_, n_rows, kWidth));
      op_.kind = PLUMB_OP_QUANTIZE;
      op_.as.quantize = {in, operand, kWidth, 0};
      run(0, 1);
    }
    op_.kind = PLUMB_OP_MATMUL;
    op_.as.matmul = {weight,    0,      operand, buffer(uint64_t{n_rows} * n_out * sizeof(float)),
                     in_format, kWidth, n_out,   0};
    require(kernels_.plan(self_, &op_, 1, error_), error_);
  }
  ~Product() {
    for (const plumb_handle worker : workers_) kernels_.worker_destroy(self_, worker);
    for (const plumb_handle buffer : buffers_) kernels_.free(self_, buffer);
    kernels_.destroy(self_);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  uint64_t weight_bytes() const { return weight_bytes_; }

  void run(uint32_t part, uint32_t n_parts) {
    if (kernels_.execute(self_, &op_, 1, workers_[part], part, n_parts, nullptr) != PLUMB_OK) {
      throw std::runtime_error("execute failed");
    }
  }

 private:
  plumb_slice buffer(uint64_t bytes) {
    plumb_handle handle = 0;
    require(kernels_.alloc(self_, bytes, 0, &handle, error_), error_);
    buffers_.push_back(handle);
    return {handle, 0};
  }

  const plumb_kernels& kernels_;
  void* self_ = nullptr;
  ErrorBuffer error_;
  std::vector<plumb_handle> buffers_;
  plumb_handle workers_[kThreadsMax] = {};
  uint64_t weight_bytes_ = 0;
  plumb_op op_{};
};

/// Made by the first thread that needs it, dropped when another benchmark starts.
Product& shared_product(const std::string& name,
                        const std::function<std::unique_ptr<Product>()>& make) {
  static std::mutex mutex;
  static std::string current;
  static std::unique_ptr<Product> product;
  const std::lock_guard lock(mutex);
  if (current != name) {
    product.reset();
    product = make();
    current = name;
  }
  return *product;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void register_product(const std::string& plugin, const std::string& variant,
                      const plumb_kernels& kernels, const FormatInfo& info, plumb_format in_format,
                      uint32_t n_rows) {
  const bool is_vector = n_rows == 1;
  const bool is_quantised = in_format == PLUMB_ACT_Q8;
  const double bits = 8.0 * info.block_bytes / info.block_values;
  const uint32_t n_out =
      is_vector
          ? static_cast<uint32_t>(static_cast<double>(kStreamBytes) * 8 / bits / kWidth) / 16 * 16
          : 1024;
  const std::string name = plugin + (variant.empty() ? "" : "/" + variant) +
                           (is_vector ? "/matvec/" : "/gemm512/") + std::string(info.name) +
                           (is_quantised ? "/q8" : "/f32");
  const auto body = [=, &kernels](benchmark::State& state) {
    Product& product = shared_product(name, [&] {
      return std::make_unique<Product>(kernels, variant, info.format, in_format, n_out, n_rows);
    });
    const auto part = static_cast<uint32_t>(state.thread_index());
    const auto n_parts = static_cast<uint32_t>(state.threads());
    const double most =
        is_vector ? read_bytes_per_s(part, n_parts) : peak_macs_per_s(variant, is_quantised);
    const double start = seconds_now();
    for (auto _ : state) product.run(part, n_parts);
    const double seconds = seconds_now() - start;
    // Every thread does its share of one product.
    const double runs = static_cast<double>(state.iterations()) / n_parts;
    const double macs = runs * n_out * kWidth * n_rows;
    const double bytes = runs * static_cast<double>(product.weight_bytes());
    state.counters["GMAC/s"] = benchmark::Counter(macs / 1e9, benchmark::Counter::kIsRate);
    if (is_vector) {
      state.counters["GB/s"] = benchmark::Counter(bytes / 1e9, benchmark::Counter::kIsRate);
    }
    if (most > 0) {
      state.counters["roofline %"] = benchmark::Counter(
          100 * (is_vector ? bytes : macs) / seconds / most, benchmark::Counter::kAvgThreads);
    }
  };
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->ThreadRange(1, kThreadsMax)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

void read_bandwidth(benchmark::State& state) {
  double bytes_per_s = 0;
  for (auto _ : state) {
    bytes_per_s = read_bytes_per_s(static_cast<uint32_t>(state.thread_index()),
                                   static_cast<uint32_t>(state.threads()));
  }
  state.counters["GB/s"] = bytes_per_s / 1e9;
}

/// The variants that this machine can run; one without a name where a library has no choice.
std::vector<std::string> runnable_variants(const plumb_kernels& kernels) {
  std::vector<std::string> names;
  for (const KernelsVariant& variant : variants_of(kernels)) {
    if (variant.missing.empty()) names.push_back(variant.name);
  }
  if (names.empty()) names.emplace_back();
  return names;
}

void register_all(const std::filesystem::path& folder) {
  benchmark::RegisterBenchmark("memory/read", read_bandwidth)
      ->ThreadRange(1, kThreadsMax)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  std::vector<std::filesystem::path> libraries;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename();
    const bool has_kernels = name.starts_with("plumb.cpu.") || name.starts_with("plumb.wasm.");
    if (has_kernels && name.ends_with(".so")) libraries.push_back(file.path());
  }
  std::sort(libraries.begin(), libraries.end());
  for (const auto& library : libraries) {
    std::string id;
    const plumb_kernels* kernels = load(library, &id);
    if (kernels == nullptr) continue;
    for (const std::string& variant : runnable_variants(*kernels)) {
      for (const uint32_t n_rows : {1u, kGemmRows}) {
        for (const FormatInfo& info : kFormats) {
          if (info.is_quantised)
            register_product(id, variant, *kernels, info, PLUMB_ACT_Q8, n_rows);
          if (info.format != PLUMB_I32)
            register_product(id, variant, *kernels, info, PLUMB_F32, n_rows);
        }
      }
    }
  }
}

}  // namespace
}  // namespace plumbline::bench

int main(int argc, char** argv) {
  plumbline::bench::register_all(PLUMB_BUILD_PLUGIN_DIR);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
