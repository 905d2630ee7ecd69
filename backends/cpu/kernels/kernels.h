// kernels.h: what crosses between the host side of this backend and its kernels. The host side
// makes every check; a kernel gets valid addresses and consistent shapes, allocates nothing, and
// nothing can fail in it but the numbers.
//
// kernels/*.cc is compiled once for each variant (an instruction set, or WebAssembly), in a
// namespace of its own; the rest of the plugin is compiled once, for the oldest processor. Only
// `call` crosses. A WebAssembly module has 32-bit addresses, so arguments have one layout for all:
// fixed-width fields, addresses as Ref, and all Refs first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/layout.h"

namespace plumbline::cpu {

/// An address, as wide in 32-bit code as in 64-bit code.
template <typename T>
struct Ref {
  uint64_t address;

  constexpr Ref() : address(0) {}
  __attribute__((always_inline)) Ref(T* pointer)
      : address(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointer))) {}
  __attribute__((always_inline)) operator T*() const {
    return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
  }
};

/// Work is cut in items (rows, panels, heads, ...) that give the same bits in any order; a kernel
/// does the items [begin, end) of the count that its arguments' comment names.
struct Range {
  uint64_t begin, end;
};

enum class Kernel : uint32_t {
  kEmbed,
  kNorm,
  kQuantize,
  kMatmul,
  kRope,
  kKvWrite,
  kKvRead,
  kAttend,
  kElementwise,
  kArgmax,
};

enum class Outcome : uint32_t {
  kDone,
  kNotFinite,  // an input, or a visible score, is NaN or infinite
  kNothingVisible,  // a query sees no row of the cache
};

/// out f32[T,D] = rows ids[t] of a prepared W[V,D]. Items: T.
struct EmbedArgs {
  static constexpr Kernel kKernel = Kernel::kEmbed;
  static constexpr uint32_t kRefs = 3;
  Ref<const uint8_t> weight;
  Ref<const int32_t> ids;
  Ref<float> out;
  uint64_t width;
  plumb_format format;
};

/// Items: rows of `width` values. weight and bias may be null; `layer`: layer norm, else RMS norm.
struct NormArgs {
  static constexpr Kernel kKernel = Kernel::kNorm;
  static constexpr uint32_t kRefs = 4;
  Ref<const float> in;
  Ref<float> out;
  Ref<const float> weight;
  Ref<const float> bias;
  uint64_t width;
  float epsilon;
  uint32_t layer;
};

/// Items: T * width / 32 blocks.
struct QuantizeArgs {
  static constexpr Kernel kKernel = Kernel::kQuantize;
  static constexpr uint32_t kRefs = 2;
  Ref<const float> in;
  Ref<uint8_t> out;
  uint64_t width;
};

/// Items: panels of 16 output rows.
struct MatmulArgs {
  static constexpr Kernel kKernel = Kernel::kMatmul;
  static constexpr uint32_t kRefs = 5;
  Ref<const uint8_t> weight;
  Ref<const uint8_t> in;  // quantised rows, or f32[T,n_in]
  Ref<const float> bias;  // null, or padded to whole panels
  Ref<float> out;  // f32[T,n_out]
  Ref<uint8_t> scratch;  // matmul_scratch_bytes, 64-byte aligned
  uint64_t n_rows, n_in, n_out;
  plumb_format format;
  uint32_t quantised;  // in: quantised rows
};

/// Items: T * n_heads. Tables f32[.., n_rotated / 2].
struct RopeArgs {
  static constexpr Kernel kKernel = Kernel::kRope;
  static constexpr uint32_t kRefs = 5;
  Ref<const float> in;
  Ref<float> out;
  Ref<const int32_t> positions;
  Ref<const float> cos_table;
  Ref<const float> sin_table;
  uint64_t n_heads, head_width, n_rotated;
  uint64_t interleaved;
};

/// A KV cache of elements f32 or f16. k [K][capacity/16][C][16]: 16 positions interleaved. v
/// [K][capacity][padded_width].
struct KvView {
  static constexpr uint32_t kRefs = 3;
  Ref<uint8_t> k;
  Ref<uint8_t> v;
  Ref<int32_t> positions;  // i32[capacity]
  uint64_t capacity;  // a multiple of 16
  uint64_t n_heads;  // K
  uint64_t head_width;  // C
  uint64_t padded_width;  // C up to a multiple of 16; the rest is zero
  uint64_t is_f16;
};

/// Rows of C values of k and v f32[T,K,C] to (kKvWrite) or from (kKvRead) cache rows first_row + t;
/// a null address is skipped. Writing to f16 rounds to nearest even, and is kNotFinite where the
/// result is not. Items: T * K.
struct KvWriteArgs {
  static constexpr Kernel kKernel = Kernel::kKvWrite;
  static constexpr uint32_t kRefs = 2 + KvView::kRefs;
  Ref<const float> k;
  Ref<const float> v;
  KvView kv;
  uint64_t first_row;
};
struct KvReadArgs {
  static constexpr Kernel kKernel = Kernel::kKvRead;
  static constexpr uint32_t kRefs = 2 + KvView::kRefs;
  Ref<float> k;
  Ref<float> v;
  KvView kv;
  uint64_t first_row;
};

/// Items: (kv head, tile of queries), of which every step-th is done: later queries see more rows,
/// so that parts take turns.
struct AttendArgs {
  static constexpr Kernel kKernel = Kernel::kAttend;
  static constexpr uint32_t kRefs = 5 + KvView::kRefs;
  Ref<const float> q;
  Ref<float> out;
  Ref<const int32_t> positions;
  Ref<const uint64_t> bitmap;  // null: causal
  Ref<uint8_t> scratch;  // attend_scratch_bytes, 64-byte aligned
  KvView kv;
  uint64_t n_rows, n_heads, n_rows_kv, first_row;
  uint64_t tile;  // queries that are taken together, at most kQueryTile
  uint64_t step;
  float scale, softcap;
  int32_t window;  // INT32_MAX: none
  uint32_t reserved;

  /// Queries of one kv head: (row, head of its group).
  __attribute__((always_inline)) uint64_t n_pairs() const {
    return n_rows * (n_heads / kv.n_heads);
  }
  __attribute__((always_inline)) uint64_t n_items() const {
    return kv.n_heads * ((n_pairs() + tile - 1) / tile);
  }
};

enum class Elementwise : uint32_t { kSilu, kGeluTanh, kGeluErf, kAdd, kScale, kSoftcap };

/// Items: groups of 16 values of n. b: the second operand, or null.
struct ElementwiseArgs {
  static constexpr Kernel kKernel = Kernel::kElementwise;
  static constexpr uint32_t kRefs = 3;
  Ref<const float> a;
  Ref<const float> b;
  Ref<float> out;
  uint64_t n;
  Elementwise function;
  float parameter;
};

/// out i32[T]: lowest index of the largest value. Items: rows.
struct ArgmaxArgs {
  static constexpr Kernel kKernel = Kernel::kArgmax;
  static constexpr uint32_t kRefs = 2;
  Ref<const float> in;
  Ref<int32_t> out;
  uint64_t width;
};

/// Can be copied as bytes, of which the first kRefs words are addresses.
template <typename Args>
inline constexpr bool kIsPortable =
    std::is_standard_layout_v<Args> && std::is_trivially_copyable_v<Args> && alignof(Args) == 8 &&
    sizeof(Args) % 8 == 0 && sizeof(Args) >= Args::kRefs * 8;
static_assert(kIsPortable<EmbedArgs> && kIsPortable<NormArgs> && kIsPortable<QuantizeArgs> &&
              kIsPortable<MatmulArgs> && kIsPortable<RopeArgs> && kIsPortable<KvWriteArgs> &&
              kIsPortable<KvReadArgs> && kIsPortable<AttendArgs> && kIsPortable<ElementwiseArgs> &&
              kIsPortable<ArgmaxArgs>);

/// The one entry of a variant. args: the Args whose kKernel is `kernel`.
using CallFn = Outcome (*)(Kernel kernel, const void* args, Range items);

/// Bytes of scratch that one worker needs.
constexpr uint64_t attend_scratch_bytes(uint64_t capacity) {
  return kQueryTile *
         ((capacity * sizeof(float) + capacity / kLanes * sizeof(uint32_t) + 63) / 64 * 64);
}
constexpr uint64_t matmul_scratch_bytes(const Layout& layout, uint64_t n_in, bool quantised) {
  if (quantised) {
    const uint64_t unpacked = kPanels * kChunkBlocks * kUnpackedBytes;
    const uint64_t factors = kFactorRows * (n_in / kBlock) * kFactorBytes;
    return unpacked > factors ? unpacked : factors;
  }
  return layout.format == PLUMB_F32 ? 0 : kPanels * kChunkColumns * kLanes * sizeof(float);
}

}  // namespace plumbline::cpu
