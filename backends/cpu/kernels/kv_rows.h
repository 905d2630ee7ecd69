// kv_rows.h: where a KV cache has its rows, and its elements as f32.
#pragma once

#include "backends/cpu/kernels/functions.h"
#include "backends/cpu/kernels/math.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {

using f16 = uint16_t;  // binary16 as bits

// Element: float or f16.

template <typename Element>
PLUMB_INLINE Element* key_at(const KvView& kv, uint64_t head, uint64_t row) {
  return reinterpret_cast<Element*>(static_cast<uint8_t*>(kv.k)) +
         (head * kv.capacity + row / kLanes * kLanes) * kv.head_width + row % kLanes;
}
template <typename Element>
PLUMB_INLINE Element* value_at(const KvView& kv, uint64_t head, uint64_t row) {
  return reinterpret_cast<Element*>(static_cast<uint8_t*>(kv.v)) +
         (head * kv.capacity + row) * kv.padded_width;
}

PLUMB_INLINE f32x16 load_elements(const float* from) {
  return load(from);
}
PLUMB_INLINE f32x16 load_elements(const f16* from) {
  return from_f16(from);
}
PLUMB_INLINE void store_elements(float* to, f32x16 x) {
  store(to, x);
}
PLUMB_INLINE void store_elements(f16* to, f32x16 x) {
  store_f16(to, x);
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
