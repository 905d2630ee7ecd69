// facts.h: what is known of an op before it runs: its record, and the weights and cache it names.
#pragma once

#include <cstdint>
#include <vector>

#include "plumb/ext/kernels.h"

namespace plumbline::fault {

/// A prepared tensor; a vector is one row.
struct Weight {
  plumb_format format;
  uint64_t n_rows;
  uint64_t n_columns;
  std::vector<float> values;  // of a vector
  std::vector<uint8_t> blocks;  // of a matrix that the fault multiplies with, or the inner reads
};

struct Cache {
  uint32_t n_heads;  // K
  uint32_t head_width;  // C
  uint32_t capacity_rows;
  /// What it holds; of kv_old_row_kept alone. One call at a time writes a cache.
  mutable std::vector<float> written_k = {}, written_v = {};
};

struct OpFacts {
  const plumb_op& op;
  double amount;
  // Null where the op has none, or names none that is live.
  const Weight* weight;
  const Weight* bias;
  const Cache* cache;
};

/// Where the op writes f32[n_rows, output_width]; absent for those that write anything else.
plumb_slice output_of(const plumb_op& op);
uint64_t output_width(const OpFacts& facts);

}  // namespace plumbline::fault
