// op_info.h: what a program knows of its ops beside their records: names, and who reads what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumbline::model {

/// Index of a value: an activation matrix [rows,width] of 4-byte elements, f32 or i32.
using ValueId = uint32_t;
inline constexpr ValueId kNoValue = 0xffffffffu;
/// Index of a backend in the program's list.
using BackendId = uint32_t;

/// One thing that an op reads, beside weights and tables.
struct Operand {
  ValueId value = kNoValue;  // kNoValue: a KV cache, f32[S,2*K*C]
  std::string writer;  // the op that wrote it, "3.attn_q"; empty: the host (ids, positions)
  int32_t quantised_by = -1;  // index of the quantize op that the reader reads it through; -1: none

  bool is_kv() const { return value == kNoValue; }
};

struct OpInfo {
  std::string name;  // "3.attn_q_rope"; an op outside the layers has no number
  int32_t layer = -1;  // -1: outside the layers
  BackendId backend = 0;
  ValueId output = kNoValue;  // kNoValue: private (quantize), or a KV cache (kv_append)
  std::string weight = {};  // the tensor's name in the file; empty: none
  std::string bias = {};
  uint32_t kind = 0;  // PLUMB_OP_*
  uint32_t kv_width = 0;  // kv_append, attend: values of one KV row, 2*K*C
  std::vector<Operand> operands = {};
};

}  // namespace plumbline::model
