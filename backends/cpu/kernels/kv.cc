// kv.cc: rows into and out of a KV cache.
#include "backends/cpu/kernels/kv_rows.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {
namespace {

/// n <= 16 values as elements of the cache, each `stride` from the last. False if one does not fit.
template <typename Element>
PLUMB_INLINE bool put(const float* from, uint64_t n, Element* to, uint64_t stride) {
  Element elements[kWidth];
  const f32x16 x = n == kWidth ? load(from) : load_first(from, n);
  store_elements(elements, x);
  for (uint64_t i = 0; i < n; ++i) to[i * stride] = elements[i];
  return sizeof(Element) == sizeof(float) || mask_bits(not_finite(load_elements(elements))) == 0;
}

template <typename Element>
PLUMB_INLINE void take(const Element* from, uint64_t stride, uint64_t n, float* to) {
  Element elements[kWidth] = {};
  for (uint64_t i = 0; i < n; ++i) elements[i] = from[i * stride];
  store_first(to, load_elements(elements), n);
}

/// Calls body(at, n, key, value) for each group of n <= 16 channels of every head: `at` in a matrix
/// f32[T,K,C], key and value in the cache.
template <typename Element, typename Body>
PLUMB_INLINE void each_group(const KvView& kv, uint64_t first_row, Range heads, Body body) {
  for (uint64_t item = heads.begin; item < heads.end; ++item) {
    const uint64_t head = item % kv.n_heads;
    const uint64_t row = first_row + item / kv.n_heads;
    Element* key = key_at<Element>(kv, head, row);
    Element* value = value_at<Element>(kv, head, row);
    for (uint64_t c = 0; c < kv.head_width; c += kLanes) {
      const uint64_t n = kv.head_width - c < kLanes ? kv.head_width - c : kLanes;
      body(item * kv.head_width + c, n, key + c * kLanes, value + c);
    }
  }
}

template <typename Element>
Outcome write_rows(const KvWriteArgs& args, Range heads) {
  const float* k = args.k;
  const float* v = args.v;
  bool fits = true;
  each_group<Element>(args.kv, args.first_row, heads,
                      [&](uint64_t at, uint64_t n, Element* key, Element* value) {
                        if (k != nullptr) fits &= put(k + at, n, key, kLanes);
                        if (v != nullptr) fits &= put(v + at, n, value, 1);
                      });
  return fits ? Outcome::kDone : Outcome::kNotFinite;
}

template <typename Element>
Outcome read_rows(const KvReadArgs& args, Range heads) {
  float* k = args.k;
  float* v = args.v;
  each_group<Element>(args.kv, args.first_row, heads,
                      [&](uint64_t at, uint64_t n, const Element* key, const Element* value) {
                        if (k != nullptr) take(key, kLanes, n, k + at);
                        if (v != nullptr) take(value, 1, n, v + at);
                      });
  return Outcome::kDone;
}

}  // namespace

Outcome kv_write(const KvWriteArgs& args, Range heads) {
  return args.kv.is_f16 != 0 ? write_rows<f16>(args, heads) : write_rows<float>(args, heads);
}

Outcome kv_read(const KvReadArgs& args, Range heads) {
  return args.kv.is_f16 != 0 ? read_rows<f16>(args, heads) : read_rows<float>(args, heads);
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
