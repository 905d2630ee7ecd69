// decoder_graph.h: the parametric decoder of llama, qwen2, qwen3, gemma2 and gemma3, as two lists
// of named ops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/hyper_parameters.h"
#include "core/model/placement.h"
#include "core/model/program.h"
#include "core/model/weights.h"

namespace plumbline::model {

struct GraphOptions {
  uint32_t capacity_rows = 0;  // S: rows of each KV cache, and of the RoPE tables
  uint32_t chunk_rows = 0;  // most rows of one step
  uint32_t head_rows = 0;  // most rows of logits of one step
  plumb_format activations = PLUMB_ACT_Q8;
  bool keeps_keys = false;  // of each layer, as they are before RoPE
};

/// One RoPE table: cosines and sines of every position, filled by the decoder as positions are
/// reached.
struct RopeTable {
  std::vector<float> frequencies;
  double attention_factor = 1;
  ValueId cosines = 0;
  ValueId sines = 0;
};

/// What lies outside the ops' records of a layer.
struct GraphLayer {
  BackendId cache_at = 0;  // of its KV caches
  size_t k_rope = 0;  // the body's op that rotates keys
};

/// What the decoder needs to run the graph.
struct Graph {
  ValueId ids = 0;  // i32[T,1], written by the decoder
  ValueId positions = 0;  // i32[T,1]
  ValueId hidden = 0;  // f32[T,D]: the residual stream, input of the head
  ValueId logits = 0;  // f32[T,V]
  BackendId logits_at = 0;
  std::vector<RopeTable> rope;  // [0] global, [1] of the sliding layers if different
  std::vector<GraphLayer> layers;
  // Ops of the body: ids -> hidden. Ops of the head: rows of hidden -> rows of logits.
  Program body;
  Program head;

  explicit Graph(Values& values) : body(values), head(values) {}
};

/// Builds the graph; its ops hold needs of `weights` in place of handles.
/// Fails UNSUPPORTED (architecture or op; names what is missing), CORRUPT (tensors), INVALID_CONFIG
/// (an override that meets no op).
Result<void> build_graph(const HyperParameters& hp, const GraphOptions& options,
                         const ModelFile& file, Placement& placement, Values& values,
                         Weights& weights, Graph& graph);
/// Puts the handles of prepared weights in the needs' place.
void resolve_weights(const Weights& weights, Graph& graph);

}  // namespace plumbline::model
