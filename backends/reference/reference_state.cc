#include "reference_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <span>

#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::reference {

namespace {

constexpr uint64_t kLargestObject = std::numeric_limits<ptrdiff_t>::max();

/// Shape, format and uses of a tensor, before anything of it is read.
plumb_status check_tensor(const plumb_tensor* tensor, uint32_t uses, plumb_error* error) {
  if (tensor == nullptr || !PLUMB_HAS(tensor, plumb_tensor, file_offset)) {
    return fail(error, PLUMB_INVALID_ARGUMENT,
                "prepare: tensor is missing or its struct_bytes too small");
  }
  const int name_bytes = static_cast<int>(std::min<uint64_t>(tensor->name.bytes, 128));
  const char* name = tensor->name.data;
  constexpr uint32_t kMatrixUses = PLUMB_USE_MATMUL | PLUMB_USE_EMBED;
  const bool is_vector = uses == PLUMB_USE_VECTOR;
  if (!is_vector && (uses == 0 || (uses & ~kMatrixUses) != 0)) {
    return failf(error, PLUMB_INVALID_ARGUMENT,
                 "tensor %.*s: uses 0x%x; expected MATMUL, EMBED, both, or VECTOR alone",
                 name_bytes, name, uses);
  }
  const uint32_t rank = is_vector ? 1 : 2;
  if (tensor->rank != rank) {
    return failf(error, PLUMB_UNSUPPORTED, "tensor %.*s: rank %u; expected %u for this use",
                 name_bytes, name, tensor->rank, rank);
  }
  const FormatInfo* info = find_format(tensor->format);
  if (info == nullptr || info->format == PLUMB_I32 || (is_vector && info->is_quantised)) {
    return failf(error, PLUMB_UNSUPPORTED, "tensor %.*s: format %d is not one of this use",
                 name_bytes, name, tensor->format);
  }
  const std::span<const uint64_t> dims(tensor->dims, rank);
  if (dims.back() % info->block_values != 0) {
    return failf(error, PLUMB_UNSUPPORTED,
                 "tensor %.*s: rows of %llu values; %s needs a multiple of %u", name_bytes, name,
                 static_cast<unsigned long long>(dims.back()), info->name.data(),
                 info->block_values);
  }
  const std::optional<uint64_t> bytes = tensor_bytes(tensor->format, dims);
  if (!bytes || *bytes == 0 || *bytes != tensor->data.bytes || tensor->data.data == nullptr) {
    return failf(error, PLUMB_INVALID_ARGUMENT,
                 "tensor %.*s: %llu bytes of data; its shape asks for %llu", name_bytes, name,
                 static_cast<unsigned long long>(tensor->data.bytes),
                 static_cast<unsigned long long>(bytes.value_or(0)));
  }
  return PLUMB_OK;
}

template <typename Block>
bool has_finite_scales(const Block& block) {
  bool is_finite = true;
  if constexpr (requires { block.d; }) is_finite = is_finite && std::isfinite(f16_to_f32(block.d));
  if constexpr (requires { block.m; }) is_finite = is_finite && std::isfinite(f16_to_f32(block.m));
  if constexpr (requires { block.dmin; })
    is_finite = is_finite && std::isfinite(f16_to_f32(block.dmin));
  return is_finite;
}

plumb_status check_scales(const plumb_tensor& tensor, plumb_error* error) {
  uint64_t bad_at = 0;
  bool found = false;
  visit_block_type(tensor.format, [&]<typename Block>(std::type_identity<Block>) {
    for (uint64_t b = 0; b < tensor.data.bytes / sizeof(Block) && !found; ++b) {
      Block block;
      std::memcpy(&block, tensor.data.data + b * sizeof block, sizeof block);
      found = !has_finite_scales(block);
      bad_at = b;
    }
  });
  if (!found) return PLUMB_OK;
  return failf(error, PLUMB_CORRUPT, "tensor %.*s: block %llu has a scale that is not finite",
               static_cast<int>(std::min<uint64_t>(tensor.name.bytes, 128)), tensor.name.data,
               static_cast<unsigned long long>(bad_at));
}

/// The cache if [first, first + n) lies in its capacity and leaves no hole; else null and the
/// error.
KvCache* find_rows(State& state, plumb_handle kv, uint32_t first, uint32_t n,
                   uint32_t KvCache::*limit, plumb_error* error) {
  KvCache* cache = state.caches.find(kv);
  if (cache == nullptr) {
    fail(error, PLUMB_INVALID_ARGUMENT, "kv: not a live handle of a KV cache");
  } else if (first > cache->n_rows || uint64_t{first} + n > cache->*limit) {
    failf(error, PLUMB_INVALID_ARGUMENT, "kv: rows %u to %llu asked for; %u held of %u", first,
          static_cast<unsigned long long>(uint64_t{first} + n), cache->n_rows,
          cache->capacity_rows);
    cache = nullptr;
  }
  return cache;
}

}  // namespace

Buffer::Buffer(uint64_t n_bytes) : bytes(n_bytes) {
  if (n_bytes > kLargestObject - kBufferAlignment) throw std::bad_alloc();
  memory.reset(static_cast<std::byte*>(
      ::operator new(std::max<uint64_t>(n_bytes, 1), std::align_val_t{kBufferAlignment})));
}

void Buffer::Free::operator()(std::byte* block) const {
  ::operator delete(block, std::align_val_t{kBufferAlignment});
}

std::byte* resolve(const State& state, plumb_slice slice, uint64_t bytes) {
  const Buffer* buffer = state.buffers.find(slice.buffer);
  if (buffer == nullptr || slice.offset_bytes > buffer->bytes ||
      bytes > buffer->bytes - slice.offset_bytes) {
    return nullptr;
  }
  return buffer->memory.get() + slice.offset_bytes;
}

plumb_status prepare_bytes(const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                           plumb_error* error) {
  if (const plumb_status status = check_tensor(tensor, uses, error); status != PLUMB_OK)
    return status;
  *bytes = uses == PLUMB_USE_VECTOR ? tensor->dims[0] * sizeof(float) : 0;
  return PLUMB_OK;
}

plumb_status prepare(State& state, const plumb_tensor* tensor, uint32_t uses,
                     plumb_slice destination, plumb_handle* weight, plumb_error* error) {
  if (const plumb_status status = check_tensor(tensor, uses, error); status != PLUMB_OK)
    return status;
  if (const plumb_status status = check_scales(*tensor, error); status != PLUMB_OK) return status;
  Weight prepared{};
  prepared.uses = uses;
  if (uses == PLUMB_USE_VECTOR) {
    prepared.format = PLUMB_F32;
    prepared.n_rows = 1;
    prepared.n_columns = tensor->dims[0];
    prepared.row_bytes = prepared.n_columns * sizeof(float);
    std::byte* values = resolve(state, destination, prepared.row_bytes);
    if (values == nullptr || destination.offset_bytes % alignof(float) != 0) {
      return failf(error, PLUMB_INVALID_ARGUMENT,
                   "prepare: destination is not %llu aligned bytes of a buffer",
                   static_cast<unsigned long long>(prepared.row_bytes));
    }
    dequantise_blocks(tensor->format, tensor->data.data, prepared.n_columns,
                      reinterpret_cast<float*>(values));
    prepared.data = reinterpret_cast<const uint8_t*>(values);
  } else {
    prepared.format = tensor->format;
    prepared.n_rows = tensor->dims[0];
    prepared.n_columns = tensor->dims[1];
    prepared.row_bytes = tensor->data.bytes / prepared.n_rows;
    prepared.data = tensor->data.data;
  }
  *weight = state.weights.add(std::make_unique<Weight>(prepared));
  return *weight != 0 ? PLUMB_OK : fail(error, PLUMB_INTERNAL, "prepare: too many weights");
}

KvCache::KvCache(const plumb_kv_shape& shape)
    : capacity_rows(shape.capacity_rows),
      n_heads(shape.n_heads_kv),
      head_width(shape.head_width),
      is_f16(shape.format == PLUMB_F16) {
  const std::optional<uint64_t> n_floats = checked_product(row_floats(), capacity_rows);
  if (!n_floats || *n_floats > kLargestObject / sizeof(float)) throw std::bad_alloc();
  k.reset(new float[*n_floats]);
  v.reset(new float[*n_floats]);
  positions.reset(new int32_t[capacity_rows]);
}

plumb_status KvCache::store(const float* k_rows, const float* v_rows, uint32_t first, uint64_t n,
                            plumb_error* error) {
  bool fits = true;
  const auto put = [&](const float* from, float* to) {
    if (from == nullptr) return;
    std::transform(from, from + n * row_floats(), to + first * row_floats(), [&](float x) {
      const float kept = is_f16 ? f16_to_f32(f32_to_f16(x)) : x;
      fits = fits && (!is_f16 || std::isfinite(kept));
      return kept;
    });
  };
  put(k_rows, k.get());
  put(v_rows, v.get());
  return fits ? PLUMB_OK : fail(error, PLUMB_NUMERIC, "k or v: a value in f16 is NaN or infinite");
}

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
  *kv = state.caches.add(std::make_unique<KvCache>(*shape));
  return *kv != 0 ? PLUMB_OK : fail(error, PLUMB_INTERNAL, "kv: too many caches");
}

plumb_status kv_truncate(State& state, plumb_handle kv, uint32_t n_rows, plumb_error* error) {
  KvCache* cache = find_rows(state, kv, n_rows, 0, &KvCache::n_rows, error);
  if (cache == nullptr) return PLUMB_INVALID_ARGUMENT;
  cache->n_rows = n_rows;
  return PLUMB_OK;
}

plumb_status kv_export(State& state, plumb_handle kv, uint32_t first, uint32_t n, float* k,
                       float* v, int32_t* positions, plumb_error* error) {
  const KvCache* cache = find_rows(state, kv, first, n, &KvCache::n_rows, error);
  if (cache == nullptr) return PLUMB_INVALID_ARGUMENT;
  const uint64_t at = first * cache->row_floats(), n_floats = n * cache->row_floats();
  if (k != nullptr) std::copy_n(cache->k.get() + at, n_floats, k);
  if (v != nullptr) std::copy_n(cache->v.get() + at, n_floats, v);
  if (positions != nullptr) std::copy_n(cache->positions.get() + first, n, positions);
  return PLUMB_OK;
}

plumb_status kv_import(State& state, plumb_handle kv, uint32_t first, uint32_t n, const float* k,
                       const float* v, const int32_t* positions, plumb_error* error) {
  KvCache* cache = find_rows(state, kv, first, n, &KvCache::capacity_rows, error);
  if (cache == nullptr) return PLUMB_INVALID_ARGUMENT;
  const bool extends = uint64_t{first} + n > cache->n_rows;
  if (extends && (k == nullptr || v == nullptr || positions == nullptr)) {
    return fail(error, PLUMB_INVALID_ARGUMENT, "kv: new rows need k, v and positions");
  }
  if (positions != nullptr &&
      std::any_of(positions, positions + n, [](int32_t p) { return p < 0; })) {
    return fail(error, PLUMB_INVALID_ARGUMENT, "kv: a position is negative");
  }
  if (const plumb_status status = cache->store(k, v, first, n, error); status != PLUMB_OK)
    return status;
  if (positions != nullptr) std::copy_n(positions, n, cache->positions.get() + first);
  cache->n_rows = std::max(cache->n_rows, first + n);
  return PLUMB_OK;
}

}  // namespace plumbline::reference
