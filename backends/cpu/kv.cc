#include <algorithm>
#include <cstring>
#include <optional>

#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"
#include "state.h"

namespace plumbline::cpu {
namespace {

/// The cache if rows [first, first + n) leave no hole and end at most at `limit` of it; else null
/// and the error.
template <typename Limit>
KvCache* find_rows(State& state, plumb_handle kv, uint32_t first, uint32_t n, Limit limit,
                   plumb_error* error) {
  KvCache* cache = state.caches.find(kv);
  if (cache == nullptr) {
    fail(error, PLUMB_INVALID_ARGUMENT, "kv: not a live handle of a KV cache");
  } else if (first > cache->n_rows || uint64_t{first} + n > limit(*cache)) {
    failf(error, PLUMB_INVALID_ARGUMENT, "kv: rows %u to %llu asked for; %u held of %u", first,
          static_cast<unsigned long long>(uint64_t{first} + n), cache->n_rows.load(),
          cache->capacity_rows);
    cache = nullptr;
  }
  return cache;
}

uint32_t held(const KvCache& cache) {
  return cache.n_rows;
}
uint32_t capacity(const KvCache& cache) {
  return cache.capacity_rows;
}

/// Rows of k and v f32[n,K,C] on their way between the caller's memory and the engine's, the only
/// one that kernels see: some rows at a time. A null address has no rows.
class Passage {
 public:
  static constexpr uint32_t kRows = 64;

  Passage(State& state, const KvView& view)
      : row_bytes_(view.n_heads * view.head_width * sizeof(float)),
        memory_(state.passage),
        lock_(state.passage_mutex) {
    const uint64_t bytes = 2 * kRows * row_bytes_;
    if (!memory_ || memory_->bytes() < bytes) memory_ = state.engine->allocate(bytes);
  }

  bool has_memory() const { return memory_.has_value(); }
  float* place(const float* rows, uint64_t index) const {
    return rows == nullptr ? nullptr
                           : reinterpret_cast<float*>(memory_->data() + index * kRows * row_bytes_);
  }
  void copy(float* to, const float* from, uint32_t n) const {
    if (to != nullptr) std::memcpy(to, from, n * row_bytes_);
  }
  /// Row i of rows, or null.
  template <typename T>
  T* at(T* rows, uint32_t i) const {
    return rows == nullptr ? nullptr : rows + i * (row_bytes_ / sizeof(float));
  }

 private:
  uint64_t row_bytes_;
  std::optional<Memory>& memory_;
  const std::lock_guard<std::mutex> lock_;
};

/// A kernel on n rows, on the thread that asked.
template <typename Args>
plumb_status run_here(State& state, const Args& args, uint32_t n, plumb_error* error) {
  const std::lock_guard lock(state.host_mutex);
  Outcome outcome = Outcome::kDone;
  const plumb_status status =
      run_kernel(state, *state.host_worker, args, {0, n * args.kv.n_heads}, &outcome, error);
  if (status != PLUMB_OK || outcome == Outcome::kDone) return status;
  return fail(error, PLUMB_NUMERIC, "k or v: a value in f16 is NaN or infinite");
}

plumb_status no_passage(const State& state, plumb_error* error) {
  return failf(error, PLUMB_INTERNAL, "kv: %s has no room for a copy of some rows",
               state.engine->name_of_memory());
}

}  // namespace

plumb_status kv_create(State& state, const plumb_kv_shape* shape, plumb_handle* kv,
                       plumb_error* error) {
  if (shape == nullptr || kv == nullptr || !PLUMB_HAS(shape, plumb_kv_shape, head_width)) {
    return fail(error, PLUMB_INVALID_ARGUMENT,
                "kv: shape is missing or its struct_bytes too small");
  }
  if (shape->format != PLUMB_F32 && shape->format != PLUMB_F16) {
    return failf(error, PLUMB_UNSUPPORTED, "kv: format %d; expected F32 or F16", shape->format);
  }
  if (shape->capacity_rows == 0 || shape->n_heads_kv == 0 || shape->head_width == 0) {
    return failf(error, PLUMB_INVALID_ARGUMENT, "kv: shape [%u,%u,%u] has a zero",
                 shape->capacity_rows, shape->n_heads_kv, shape->head_width);
  }
  const uint64_t rows = round_up(shape->capacity_rows, kLanes);
  const uint64_t padded = round_up(shape->head_width, kLanes);
  const auto head_rows = checked_product(rows, shape->n_heads_kv);
  const bool is_f16 = shape->format == PLUMB_F16;
  const uint64_t element = is_f16 ? sizeof(uint16_t) : sizeof(float);
  const auto elements =
      head_rows ? checked_product(*head_rows, shape->head_width + padded) : head_rows;
  const auto bytes = elements ? checked_product(*elements, element) : elements;
  auto memory = bytes && *bytes < UINT64_MAX / 2
                    ? state.engine->allocate(*bytes + rows * sizeof(int32_t))
                    : std::nullopt;
  if (!memory) {
    return failf(error, PLUMB_INTERNAL, "kv: %s has no room for [%u,%u,%u]",
                 state.engine->name_of_memory(), shape->capacity_rows, shape->n_heads_kv,
                 shape->head_width);
  }
  memory->prefer_small_pages();  // rows of a head lie together: a few rows would touch every page
  auto cache = std::make_unique<KvCache>();
  cache->memory = std::move(*memory);
  cache->capacity_rows = shape->capacity_rows;
  uint8_t* k = cache->memory.data();
  uint8_t* v = k + *head_rows * shape->head_width * element;
  auto* positions = reinterpret_cast<int32_t*>(v + *head_rows * padded * element);
  cache->view.k = k;
  cache->view.v = v;
  cache->view.positions = positions;
  cache->view.capacity = rows;
  cache->view.n_heads = shape->n_heads_kv;
  cache->view.head_width = shape->head_width;
  cache->view.padded_width = padded;
  cache->view.is_f16 = is_f16 ? 1 : 0;
  *kv = state.caches.add(std::move(cache));
  return *kv != 0 ? PLUMB_OK : fail(error, PLUMB_INTERNAL, "kv: too many caches");
}

plumb_status kv_truncate(State& state, plumb_handle kv, uint32_t n_rows, plumb_error* error) {
  KvCache* cache = find_rows(state, kv, n_rows, 0, held, error);
  if (cache == nullptr) return PLUMB_INVALID_ARGUMENT;
  cache->n_rows = n_rows;
  return PLUMB_OK;
}

plumb_status kv_export(State& state, plumb_handle kv, uint32_t first, uint32_t n, float* k,
                       float* v, int32_t* positions, plumb_error* error) {
  const KvCache* cache = find_rows(state, kv, first, n, held, error);
  if (cache == nullptr) return PLUMB_INVALID_ARGUMENT;
  const Passage passage(state, cache->view);
  if (!passage.has_memory()) return no_passage(state, error);
  KvReadArgs read{};
  read.k = passage.place(k, 0);
  read.v = passage.place(v, 1);
  read.kv = cache->view;
  for (uint32_t done = 0; done < n; done += Passage::kRows) {
    const uint32_t some = std::min(n - done, Passage::kRows);
    read.first_row = first + done;
    const plumb_status status = run_here(state, read, some, error);
    if (status != PLUMB_OK) return status;
    passage.copy(passage.at(k, done), read.k, some);
    passage.copy(passage.at(v, done), read.v, some);
  }
  if (positions != nullptr) std::copy_n(cache->view.positions + first, n, positions);
  return PLUMB_OK;
}

plumb_status kv_import(State& state, plumb_handle kv, uint32_t first, uint32_t n, const float* k,
                       const float* v, const int32_t* positions, plumb_error* error) {
  KvCache* cache = find_rows(state, kv, first, n, capacity, error);
  if (cache == nullptr) return PLUMB_INVALID_ARGUMENT;
  const bool extends = first + n > cache->n_rows;
  if (extends && (k == nullptr || v == nullptr || positions == nullptr)) {
    return fail(error, PLUMB_INVALID_ARGUMENT, "kv: new rows need k, v and positions");
  }
  for (uint32_t i = 0; positions != nullptr && i < n; ++i) {
    if (positions[i] < 0) {
      return failf(error, PLUMB_INVALID_ARGUMENT, "kv: position %d at row %u; expected 0 or more",
                   positions[i], i);
    }
  }
  const Passage passage(state, cache->view);
  if (!passage.has_memory()) return no_passage(state, error);
  float* const from_k = passage.place(k, 0);
  float* const from_v = passage.place(v, 1);
  KvWriteArgs write{};
  write.k = from_k;
  write.v = from_v;
  write.kv = cache->view;
  for (uint32_t done = 0; done < n; done += Passage::kRows) {
    const uint32_t some = std::min(n - done, Passage::kRows);
    passage.copy(from_k, passage.at(k, done), some);
    passage.copy(from_v, passage.at(v, done), some);
    write.first_row = first + done;
    const plumb_status status = run_here(state, write, some, error);
    if (status != PLUMB_OK) return status;
  }
  if (positions != nullptr) std::copy_n(positions, n, cache->view.positions + first);
  cache->n_rows = std::max(cache->n_rows.load(), first + n);
  return PLUMB_OK;
}

}  // namespace plumbline::cpu
