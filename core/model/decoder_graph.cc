#include "core/model/decoder_graph.h"

#include <array>
#include <cstring>

#include "core/model/rope_table.h"

namespace plumbline::model {
namespace {

constexpr std::array<const char*, 5> kArchitectures = {"llama", "qwen2", "qwen3", "gemma2",
                                                       "gemma3"};

bool is_block_format(plumb_format format) {
  return format != PLUMB_F32 && format != PLUMB_F16 && format != PLUMB_BF16;
}

class Builder {
 public:
  Builder(const HyperParameters& hp, const GraphOptions& options, Placement& placement,
          Values& values, Weights& weights, Graph& graph)
      : hp_(hp),
        options_(options),
        placement_(placement),
        values_(values),
        weights_(weights),
        graph_(graph) {}

  Result<void> build(const ModelFile& file);

 private:
  Result<void> declare(const ModelFile& file);
  Result<RopeTable> rope_table(const Rope& rope, const ModelFile& file);
  Result<void> layer(int32_t layer);
  Result<void> attention(int32_t layer);
  Result<void> feed_forward(int32_t layer);
  Result<void> head();

  // Each adds one op. layer -1: outside the layers.
  Result<void> embed();
  Result<void> rms_norm(Program& program, const std::string& op, const std::string& tensor,
                        int32_t layer, ValueId in, ValueId out, uint32_t n_groups, uint32_t width);
  Result<void> matmul(Program& program, const std::string& op, const std::string& tensor,
                      int32_t layer, ValueId in, ValueId out);
  Result<void> rope(const std::string& op, int32_t layer, ValueId value, uint32_t n_heads);
  Result<void> elementwise(Program& program, uint32_t kind, const std::string& op, int32_t layer,
                           ValueId a, ValueId b, ValueId out, float parameter, uint32_t function);

  // Makes sure that activations for a matmul are quantised before a set of independent matmuls
  // begins.
  Result<void> quantise_for(Program& program,
                            const std::vector<std::pair<std::string, std::string>>& ops_and_tensors,
                            int32_t layer, ValueId in);

  Result<void> check_supported(const plumb_op_query& query, const std::string& name,
                               BackendId backend) const;
  std::string name(const std::string& op, int32_t layer) const {
    return layer < 0 ? op : std::to_string(layer) + "." + op;
  }
  std::string tensor_name(const std::string& tensor, int32_t layer) const {
    return layer < 0 ? tensor : "blk." + std::to_string(layer) + "." + tensor;
  }
  bool wants_q8(const std::string& tensor) const;
  // A need's index as it stands in an op until resolve_weights: never 0, which means "no weight".
  static plumb_handle pending(uint32_t need) { return plumb_handle{need} + 1; }

  const HyperParameters& hp_;
  const GraphOptions& options_;
  Placement& placement_;
  Values& values_;
  Weights& weights_;
  Graph& graph_;
  const ModelFile* file_ = nullptr;

  ValueId normed_ = 0, q_ = 0, k_ = 0, v_ = 0, attended_ = 0, projected_ = 0, gate_ = 0, up_ = 0,
          head_normed_ = 0;
};

// ---- Values and tables

Result<void> Builder::build(const ModelFile& file) {
  file_ = &file;
  PLUMB_TRY(declare(file));
  PLUMB_TRY(embed());
  for (uint32_t layer_at = 0; layer_at < hp_.n_layers; ++layer_at)
    PLUMB_TRY(layer(static_cast<int32_t>(layer_at)));
  return head();
}

Result<void> Builder::declare(const ModelFile& file) {
  const uint32_t rows = options_.chunk_rows;
  graph_.ids = values_.add(1, rows);
  graph_.positions = values_.add(1, rows);
  graph_.hidden = values_.add(hp_.d_model, rows);
  normed_ = values_.add(hp_.d_model, rows);
  q_ = values_.add(hp_.n_heads * hp_.head_width, rows);
  k_ = values_.add(hp_.n_heads_kv * hp_.head_width, rows);
  v_ = values_.add(hp_.n_heads_kv * hp_.head_width, rows);
  attended_ = values_.add(hp_.n_heads * hp_.head_width, rows);
  projected_ = values_.add(hp_.d_model, rows);
  gate_ = values_.add(hp_.d_ff, rows);
  up_ = values_.add(hp_.d_ff, rows);
  head_normed_ = values_.add(hp_.d_model, options_.head_rows);
  graph_.logits = values_.add(hp_.n_vocab, options_.head_rows);

  PLUMB_ASSIGN(RopeTable global, rope_table(hp_.rope, file));
  graph_.rope.push_back(std::move(global));
  PLUMB_ASSIGN(RopeTable local, rope_table(hp_.rope_local, file));
  graph_.rope.push_back(std::move(local));

  // The host writes these wherever they are needed.
  for (BackendId backend = 0; backend < values_.backends().size(); ++backend) {
    for (const ValueId value :
         {graph_.ids, graph_.positions, graph_.rope[0].cosines, graph_.rope[0].sines,
          graph_.rope[1].cosines, graph_.rope[1].sines}) {
      values_.copied(value, backend);
    }
  }
  return {};
}

Result<RopeTable> Builder::rope_table(const Rope& rope, const ModelFile& file) {
  std::vector<float> factors;
  if (rope.scaling == Rope::Scaling::factors) {
    const ModelFile::Entry* entry = file.find("rope_freqs.weight");
    const uint64_t bytes = uint64_t{4} * (rope.n_rotated / 2);
    if (entry == nullptr || entry->tensor.format != PLUMB_F32 ||
        entry->tensor.data.bytes != bytes) {
      return Error{PLUMB_CORRUPT, file.path() + ": tensor rope_freqs.weight: expected f32[" +
                                      std::to_string(rope.n_rotated / 2) + "]"};
    }
    factors.resize(rope.n_rotated / 2);
    std::memcpy(factors.data(), entry->tensor.data.data, bytes);
  }
  RopeTable table;
  table.frequencies = inverse_frequencies(rope, factors);
  table.attention_factor = rope.attention_factor;
  table.cosines = values_.add(rope.n_rotated / 2, options_.capacity_rows);
  table.sines = values_.add(rope.n_rotated / 2, options_.capacity_rows);
  return table;
}

// ---- The decoder

Result<void> Builder::layer(int32_t layer) {
  PLUMB_TRY(attention(layer));
  return feed_forward(layer);
}

Result<void> Builder::attention(int32_t layer) {
  Program& body = graph_.body;
  PLUMB_TRY(rms_norm(body, "attn_norm", "attn_norm.weight", layer, graph_.hidden, normed_, 1,
                     hp_.d_model));
  PLUMB_TRY(quantise_for(
      body, {{"attn_q", "attn_q.weight"}, {"attn_k", "attn_k.weight"}, {"attn_v", "attn_v.weight"}},
      layer, normed_));
  body.begin_set();
  PLUMB_TRY(matmul(body, "attn_q", "attn_q", layer, normed_, q_));
  PLUMB_TRY(matmul(body, "attn_k", "attn_k", layer, normed_, k_));
  PLUMB_TRY(matmul(body, "attn_v", "attn_v", layer, normed_, v_));
  if (hp_.qk_norm) {
    body.begin_set();
    PLUMB_TRY(rms_norm(body, "attn_q_norm", "attn_q_norm.weight", layer, q_, q_, hp_.n_heads,
                       hp_.head_width));
    PLUMB_TRY(rms_norm(body, "attn_k_norm", "attn_k_norm.weight", layer, k_, k_, hp_.n_heads_kv,
                       hp_.head_width));
  }
  if (options_.keeps_keys) body.keep(k_, layer);
  body.begin_set();
  PLUMB_TRY(rope("attn_q_rope", layer, q_, hp_.n_heads));
  PLUMB_TRY(rope("attn_k_rope", layer, k_, hp_.n_heads_kv));
  const size_t k_rope = body.n_ops() - 1;

  // Append and attend share a cache, so they share a backend: that of `attend`.
  const BackendId backend = placement_(PLUMB_OP_ATTEND, "attend", layer);
  graph_.layers.push_back({backend, k_rope});

  body.begin_set();
  auto append = make_abi<plumb_op>();
  append.kind = PLUMB_OP_KV_APPEND;
  PLUMB_ASSIGN(append.as.kv_append.k, body.input(k_, backend));
  PLUMB_ASSIGN(append.as.kv_append.v, body.input(v_, backend));
  PLUMB_ASSIGN(append.as.kv_append.positions, body.input(graph_.positions, backend));
  const std::string append_name = name("kv_append", layer);
  const uint32_t kv_width = 2 * hp_.n_heads_kv * hp_.head_width;
  body.add(append, {.name = append_name, .layer = layer, .backend = backend, .kv_width = kv_width});

  body.begin_set();
  auto attend = make_abi<plumb_op>();
  attend.kind = PLUMB_OP_ATTEND;
  plumb_op_attend& a = attend.as.attend;
  PLUMB_ASSIGN(a.q, body.input(q_, backend));
  PLUMB_ASSIGN(a.out, values_.slice(attended_, backend));
  PLUMB_ASSIGN(a.positions, body.input(graph_.positions, backend));
  body.kv_input(append_name);
  a.n_heads = hp_.n_heads;
  const bool slides = hp_.sliding_layers[static_cast<size_t>(layer)];
  a.mask = slides ? PLUMB_MASK_WINDOW : PLUMB_MASK_CAUSAL;
  a.window = slides ? hp_.sliding_window : 0;
  a.scale = hp_.attention_scale;
  a.softcap = hp_.attention_softcap;
  auto query = make_abi<plumb_op_query>();
  query.kind = PLUMB_OP_ATTEND;
  query.head_width = hp_.head_width;
  query.variant = a.mask;
  PLUMB_TRY(check_supported(query, name("attend", layer), backend));
  body.add(attend, {.name = name("attend", layer),
                    .layer = layer,
                    .backend = backend,
                    .output = attended_,
                    .kv_width = kv_width});

  PLUMB_TRY(quantise_for(body, {{"attn_output", "attn_output.weight"}}, layer, attended_));
  body.begin_set();
  PLUMB_TRY(matmul(body, "attn_output", "attn_output", layer, attended_, projected_));
  if (weights_.has(tensor_name("post_attention_norm.weight", layer))) {
    body.begin_set();
    PLUMB_TRY(rms_norm(body, "post_attention_norm", "post_attention_norm.weight", layer, projected_,
                       projected_, 1, hp_.d_model));
  }
  body.begin_set();
  return elementwise(body, PLUMB_OP_ADD, "attn_residual", layer, graph_.hidden, projected_,
                     graph_.hidden, 0, 0);
}

Result<void> Builder::feed_forward(int32_t layer) {
  Program& body = graph_.body;
  body.begin_set();
  PLUMB_TRY(
      rms_norm(body, "ffn_norm", "ffn_norm.weight", layer, graph_.hidden, normed_, 1, hp_.d_model));
  PLUMB_TRY(quantise_for(body, {{"ffn_gate", "ffn_gate.weight"}, {"ffn_up", "ffn_up.weight"}},
                         layer, normed_));
  body.begin_set();
  PLUMB_TRY(matmul(body, "ffn_gate", "ffn_gate", layer, normed_, gate_));
  PLUMB_TRY(matmul(body, "ffn_up", "ffn_up", layer, normed_, up_));
  body.begin_set();
  PLUMB_TRY(
      elementwise(body, PLUMB_OP_ACTIVATE, "ffn_act", layer, gate_, up_, gate_, 0, hp_.activation));
  PLUMB_TRY(quantise_for(body, {{"ffn_down", "ffn_down.weight"}}, layer, gate_));
  body.begin_set();
  PLUMB_TRY(matmul(body, "ffn_down", "ffn_down", layer, gate_, projected_));
  if (weights_.has(tensor_name("post_ffw_norm.weight", layer))) {
    body.begin_set();
    PLUMB_TRY(rms_norm(body, "post_ffw_norm", "post_ffw_norm.weight", layer, projected_, projected_,
                       1, hp_.d_model));
  }
  body.begin_set();
  PLUMB_TRY(elementwise(body, PLUMB_OP_ADD, "ffn_residual", layer, graph_.hidden, projected_,
                        graph_.hidden, 0, 0));
  body.begin_set();
  return {};
}

Result<void> Builder::head() {
  // The head reads rows in the midst of hidden, so the body copies the whole to where the head
  // reads it.
  PLUMB_TRY(graph_.body.bring(graph_.hidden, placement_(PLUMB_OP_RMS_NORM, "output_norm", -1)));
  Program& head = graph_.head;
  PLUMB_TRY(rms_norm(head, "output_norm", "output_norm.weight", -1, graph_.hidden, head_normed_, 1,
                     hp_.d_model));
  const std::string tensor = hp_.tied_head ? "token_embd" : "output";
  PLUMB_TRY(quantise_for(head, {{"output", tensor + ".weight"}}, -1, head_normed_));
  head.begin_set();
  PLUMB_TRY(matmul(head, "output", tensor, -1, head_normed_, graph_.logits));
  graph_.logits_at = placement_(PLUMB_OP_MATMUL, "output", -1);
  if (hp_.logit_softcap > 0) {
    head.begin_set();
    PLUMB_TRY(elementwise(head, PLUMB_OP_SOFTCAP, "logit_softcap", -1, graph_.logits, graph_.logits,
                          graph_.logits, hp_.logit_softcap, 0));
    graph_.logits_at = placement_(PLUMB_OP_SOFTCAP, "logit_softcap", -1);
  }
  return {};
}

// ---- Single ops

Result<void> Builder::embed() {
  const BackendId backend = placement_(PLUMB_OP_EMBED, "embed", -1);
  auto op = make_abi<plumb_op>();
  op.kind = PLUMB_OP_EMBED;
  PLUMB_ASSIGN(const uint32_t weight,
               weights_.need("token_embd.weight", *values_.backends()[backend], PLUMB_USE_EMBED,
                             {hp_.n_vocab, hp_.d_model}));
  op.as.embed.weight = pending(weight);
  PLUMB_ASSIGN(op.as.embed.ids, graph_.body.input(graph_.ids, backend));
  PLUMB_ASSIGN(op.as.embed.out, values_.slice(graph_.hidden, backend));
  auto query = make_abi<plumb_op_query>();
  query.kind = PLUMB_OP_EMBED;
  query.weight_format = weights_.format(weight);
  query.n_out = hp_.d_model;
  PLUMB_TRY(check_supported(query, "embed", backend));
  graph_.body.add(op, {.name = "embed",
                       .backend = backend,
                       .output = graph_.hidden,
                       .weight = "token_embd.weight"});
  graph_.body.begin_set();
  if (hp_.embedding_scale != 1) {
    PLUMB_TRY(elementwise(graph_.body, PLUMB_OP_SCALE, "embed_scale", -1, graph_.hidden,
                          graph_.hidden, graph_.hidden, hp_.embedding_scale, 0));
    graph_.body.begin_set();
  }
  return {};
}

Result<void> Builder::rms_norm(Program& program, const std::string& op_name,
                               const std::string& tensor, int32_t layer, ValueId in, ValueId out,
                               uint32_t n_groups, uint32_t width) {
  const BackendId backend = placement_(PLUMB_OP_RMS_NORM, op_name, layer);
  auto op = make_abi<plumb_op>();
  op.kind = PLUMB_OP_RMS_NORM;
  plumb_op_norm& norm = op.as.norm;
  PLUMB_ASSIGN(norm.in, program.input(in, backend));
  PLUMB_ASSIGN(norm.out, values_.slice(out, backend));
  const std::string weight_name = tensor_name(tensor, layer);
  PLUMB_ASSIGN(const uint32_t weight,
               weights_.need(weight_name, *values_.backends()[backend], PLUMB_USE_VECTOR, {width}));
  norm.weight = pending(weight);
  norm.n_groups = n_groups;
  norm.width = width;
  norm.epsilon = hp_.norm_epsilon;
  auto query = make_abi<plumb_op_query>();
  query.kind = PLUMB_OP_RMS_NORM;
  query.n_in = width;
  PLUMB_TRY(check_supported(query, name(op_name, layer), backend));
  program.add(op, {.name = name(op_name, layer),
                   .layer = layer,
                   .backend = backend,
                   .output = out,
                   .weight = weight_name});
  return {};
}

bool Builder::wants_q8(const std::string& tensor) const {
  const ModelFile::Entry* entry = file_->find(tensor);
  return options_.activations == PLUMB_ACT_Q8 && entry != nullptr &&
         is_block_format(entry->tensor.format);
}

Result<void> Builder::quantise_for(
    Program& program, const std::vector<std::pair<std::string, std::string>>& ops_and_tensors,
    int32_t layer, ValueId in) {
  for (const auto& [op, tensor] : ops_and_tensors) {
    if (!wants_q8(tensor_name(tensor, layer))) continue;
    PLUMB_TRY(program.bring_quantised(in, placement_(PLUMB_OP_MATMUL, op, layer), layer));
  }
  return {};
}

Result<void> Builder::matmul(Program& program, const std::string& op_name,
                             const std::string& tensor, int32_t layer, ValueId in, ValueId out) {
  const BackendId backend = placement_(PLUMB_OP_MATMUL, op_name, layer);
  Backend& on = *values_.backends()[backend];
  const std::string weight_name = tensor_name(tensor + ".weight", layer);
  const std::string bias_name = tensor_name(tensor + ".bias", layer);
  auto op = make_abi<plumb_op>();
  op.kind = PLUMB_OP_MATMUL;
  plumb_op_matmul& product = op.as.matmul;
  product.n_in = values_.width(in);
  product.n_out = values_.width(out);
  PLUMB_ASSIGN(const uint32_t weight,
               weights_.need(weight_name, on, PLUMB_USE_MATMUL, {product.n_out, product.n_in}));
  product.weight = pending(weight);
  const bool bias_expected =
      hp_.qkv_bias && (tensor == "attn_q" || tensor == "attn_k" || tensor == "attn_v");
  const bool has_bias = bias_expected || weights_.has(bias_name);
  if (has_bias) {
    PLUMB_ASSIGN(const uint32_t bias,
                 weights_.need(bias_name, on, PLUMB_USE_VECTOR, {product.n_out}));
    product.bias = pending(bias);
  }
  if (wants_q8(weight_name)) {
    product.in_format = PLUMB_ACT_Q8;
    PLUMB_ASSIGN(product.in, program.quantised_input(in, backend, layer));
  } else {
    product.in_format = PLUMB_F32;
    PLUMB_ASSIGN(product.in, program.input(in, backend));
  }
  PLUMB_ASSIGN(product.out, values_.slice(out, backend));
  auto query = make_abi<plumb_op_query>();
  query.kind = PLUMB_OP_MATMUL;
  query.weight_format = weights_.format(weight);
  query.in_format = product.in_format;
  query.n_in = product.n_in;
  query.n_out = product.n_out;
  PLUMB_TRY(check_supported(query, name(op_name, layer), backend));
  program.add(op, {.name = name(op_name, layer),
                   .layer = layer,
                   .backend = backend,
                   .output = out,
                   .weight = weight_name,
                   .bias = has_bias ? bias_name : ""});
  return {};
}

Result<void> Builder::rope(const std::string& op_name, int32_t layer, ValueId value,
                           uint32_t n_heads) {
  const BackendId backend = placement_(PLUMB_OP_ROPE, op_name, layer);
  const bool slides = hp_.sliding_layers[static_cast<size_t>(layer)];
  const Rope& kind = slides ? hp_.rope_local : hp_.rope;
  const RopeTable& table = graph_.rope[slides ? 1 : 0];
  auto op = make_abi<plumb_op>();
  op.kind = PLUMB_OP_ROPE;
  plumb_op_rope& r = op.as.rope;
  PLUMB_ASSIGN(r.in, graph_.body.input(value, backend));
  PLUMB_ASSIGN(r.out, values_.slice(value, backend));
  PLUMB_ASSIGN(r.positions, graph_.body.input(graph_.positions, backend));
  PLUMB_ASSIGN(r.cos_table, graph_.body.input(table.cosines, backend));
  PLUMB_ASSIGN(r.sin_table, graph_.body.input(table.sines, backend));
  r.table_rows = options_.capacity_rows;
  r.n_heads = n_heads;
  r.head_width = hp_.head_width;
  r.n_rotated = kind.n_rotated;
  r.pairing = kind.pairing;
  auto query = make_abi<plumb_op_query>();
  query.kind = PLUMB_OP_ROPE;
  query.head_width = hp_.head_width;
  query.variant = kind.pairing;
  PLUMB_TRY(check_supported(query, name(op_name, layer), backend));
  graph_.body.add(
      op, {.name = name(op_name, layer), .layer = layer, .backend = backend, .output = value});
  return {};
}

Result<void> Builder::elementwise(Program& program, uint32_t kind, const std::string& op_name,
                                  int32_t layer, ValueId a, ValueId b, ValueId out, float parameter,
                                  uint32_t function) {
  const BackendId backend = placement_(kind, op_name, layer);
  auto op = make_abi<plumb_op>();
  op.kind = kind;
  plumb_op_elementwise& e = op.as.elementwise;
  PLUMB_ASSIGN(e.a, program.input(a, backend));
  if (kind == PLUMB_OP_ADD || kind == PLUMB_OP_ACTIVATE) {
    PLUMB_ASSIGN(e.b, program.input(b, backend));
  }
  PLUMB_ASSIGN(e.out, values_.slice(out, backend));
  e.width = values_.width(out);
  e.parameter = parameter;
  e.function = function;
  auto query = make_abi<plumb_op_query>();
  query.kind = kind;
  query.n_in = e.width;
  query.variant = function;
  PLUMB_TRY(check_supported(query, name(op_name, layer), backend));
  program.add(op,
              {.name = name(op_name, layer), .layer = layer, .backend = backend, .output = out});
  return {};
}

Result<void> Builder::check_supported(const plumb_op_query& query, const std::string& op_name,
                                      BackendId backend) const {
  const Backend& on = *values_.backends()[backend];
  ErrorBuffer error;
  const plumb_status status = on.table().supports(on.self(), &query, error);
  if (status != PLUMB_OK) return error.take(status).at(on.id() + " cannot run op " + op_name);
  return {};
}

Result<void> check_architecture(const HyperParameters& hp) {
  std::string known;
  for (const char* architecture : kArchitectures) {
    if (hp.architecture == architecture) return {};
    known += (known.empty() ? "" : ", ") + std::string(architecture);
  }
  return Error{PLUMB_UNSUPPORTED,
               "architecture " + hp.architecture + " is not supported; supported are " + known};
}

// A tensor that the graph has no place for would be a silent change of the model.
Result<void> check_nothing_left(const Weights& weights, const std::string& path) {
  for (const std::string& tensor : weights.unused()) {
    if (tensor == "rope_freqs.weight") continue;  // read by rope_table, where it applies
    return Error{PLUMB_UNSUPPORTED,
                 path + ": tensor " + tensor + " has no place in this architecture's graph"};
  }
  return {};
}

}  // namespace

Result<void> build_graph(const HyperParameters& hp, const GraphOptions& options,
                         const ModelFile& file, Placement& placement, Values& values,
                         Weights& weights, Graph& graph) {
  PLUMB_TRY(check_architecture(hp));
  Builder builder(hp, options, placement, values, weights, graph);
  PLUMB_TRY(builder.build(file));
  PLUMB_TRY(placement.check_all_used());
  return check_nothing_left(weights, file.path());
}

void resolve_weights(const Weights& weights, Graph& graph) {
  const auto resolve = [&](plumb_handle& handle) {
    if (handle != 0) handle = weights.handle(static_cast<uint32_t>(handle - 1));
  };
  for (Program* program : {&graph.body, &graph.head}) {
    for (size_t index = 0; index < program->n_ops(); ++index) {
      plumb_op& op = program->op(index);
      if (op.kind == PLUMB_OP_EMBED) resolve(op.as.embed.weight);
      if (op.kind == PLUMB_OP_RMS_NORM) resolve(op.as.norm.weight);
      if (op.kind == PLUMB_OP_MATMUL) {
        resolve(op.as.matmul.weight);
        resolve(op.as.matmul.bias);
      }
    }
  }
}

}  // namespace plumbline::model
