// placement.h: which backend runs which op: the config's overrides.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::model {

/// Runs ops on another backend. op: a kind ("rope", "matmul") or one op of the graph
/// ("attn_q_rope", "output"). A KV cache belongs to its layer's "attend", so "kv_append" follows
/// that.
struct Override {
  std::string op;
  uint32_t first_layer = 0;  // of ops inside layers: [first_layer, last_layer]
  uint32_t last_layer = 0xffffffffu;
  size_t backend = 0;  // index into DecoderOptions::backends
};

/// Name of a PLUMB_OP_* kind as configs say it; "" for an unknown one.
const char* op_kind_name(uint32_t kind);

class Placement {
 public:
  explicit Placement(std::vector<Override> overrides);

  /// Index of the op's backend: that of the first override that names it, else 0. layer -1: outside
  /// the layers.
  uint32_t operator()(uint32_t kind, const std::string& op, int32_t layer);

  /// Fails INVALID_CONFIG for an override that no op of the graph was found for; names those there
  /// are.
  Result<void> check_all_used() const;

 private:
  struct Tracked {
    Override choice;
    bool is_used = false;
  };
  std::vector<Tracked> overrides_;
  std::set<std::string> names_;  // kinds and ops that were asked for
};

}  // namespace plumbline::model
