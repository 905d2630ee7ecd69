// kernels.h: the compute of every op, on raw memory. backend/ calls it after all checks; pointers
// are valid, shapes are consistent, nothing is allocated and nothing can fail but the numbers.
//
// kernels/*.cc is compiled once for each instruction set, the rest of the plugin for the oldest
// processor, so only these functions cross between the two.
//
// Work is cut in items (rows, panels, heads, ...) that give the same bits in any order; each
// function does items [begin, end) of the count that its comment names.
#pragma once

#include <cstdint>

#include "backends/cpu/layout.h"

namespace plumbline::cpu {

struct Range {
  uint64_t begin, end;
};

/// out f32[T,D] = rows ids[t] of a prepared W[V,D]. Items: T.
void embed(const Layout& layout, const uint8_t* weight, uint64_t width, const int32_t* ids,
           float* out, Range rows);

/// Items: rows of `width` values. weight and bias may be null; `layer`: layer norm, else RMS norm.
struct NormArgs {
  const float* in;
  float* out;
  const float* weight;
  const float* bias;
  uint64_t width;
  float epsilon;
  bool layer;
};
void norm(const NormArgs& args, Range rows);

/// Items: T * width / 32 blocks. False if an input is NaN or infinite.
bool quantize(const float* in, uint8_t* out, uint64_t width, Range blocks);

/// Items: panels of 16 output rows. scratch: matmul_scratch_bytes, 64-byte aligned.
struct MatmulArgs {
  const Layout* layout;
  const uint8_t* weight;
  const float* bias;  // null, or padded to whole panels
  const void* in;  // quantised rows, or f32[T,n_in]
  float* out;  // f32[T,n_out]
  uint64_t n_rows, n_in, n_out;
  void* scratch;
};
void matmul_q8(const MatmulArgs& args, Range panels);
void matmul_f32(const MatmulArgs& args, Range panels);
uint64_t matmul_scratch_bytes(const Layout& layout, uint64_t n_in, bool quantised);

/// Items: T * n_heads. Tables f32[.., n_rotated / 2].
struct RopeArgs {
  const float* in;
  float* out;
  const int32_t* positions;
  const float* cos_table;
  const float* sin_table;
  uint64_t n_heads, head_width, n_rotated;
  bool interleaved;
};
void rope(const RopeArgs& args, Range heads);

/// A KV cache. k f32[K][capacity/16][C][16]: 16 positions interleaved. v
/// f32[K][capacity][padded_width].
struct KvView {
  float* k;
  float* v;
  int32_t* positions;  // i32[capacity]
  uint64_t capacity;  // a multiple of 16
  uint64_t n_heads;  // K
  uint64_t head_width;  // C
  uint64_t padded_width;  // C up to a multiple of 16; the rest is zero
};

/// Items: T * K, rows of C values of k and v f32[T,K,C] into cache rows first_row + t.
void kv_write(const KvView& kv, const float* k, const float* v, uint64_t first_row, Range heads);
void kv_read(const KvView& kv, float* k, float* v, uint64_t first_row, Range heads);

struct AttendArgs {
  KvView kv;
  const float* q;
  float* out;
  const int32_t* positions;
  const uint64_t* bitmap;  // null: causal
  uint64_t n_rows, n_heads, n_rows_kv, first_row;
  int32_t window;  // INT32_MAX: none
  float scale, softcap;
  uint64_t tile;  // queries that are taken together: 1 or kTile
  void* scratch;
};
uint64_t attend_scratch_bytes(uint64_t capacity);
enum class Attended : uint8_t { kDone, kNotFinite, kNothingVisible };
/// Items: (kv head, tile of queries). Does every n_parts-th from `part` on: later queries see more
/// rows.
Attended attend(const AttendArgs& args, uint64_t part, uint64_t n_parts);

enum class Elementwise : uint8_t { kSilu, kGeluTanh, kGeluErf, kAdd, kScale, kSoftcap };
/// Items: groups of 16 values of n. b: the second operand, or null.
void elementwise(Elementwise function, const float* a, const float* b, float* out, float parameter,
                 uint64_t n, Range groups);

/// Items: rows. False if a value is NaN or infinite.
bool argmax(const float* in, int32_t* out, uint64_t width, Range rows);

}  // namespace plumbline::cpu
