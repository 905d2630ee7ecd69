#include "translation.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "facts.h"
#include "rope_facts.h"

namespace plumbline::loaders::gguf {
namespace {

using nlohmann::json;

/// Scaled embeddings and a sliding window. Source: llama.cpp, llama-model.cpp, LLM_ARCH_GEMMA2 and
/// LLM_ARCH_GEMMA3: what a file means that lacks a key.
struct Gemma {
  uint64_t period;  // of the layers that see everything
  double attention_softcap, logit_softcap;  // 0: none
  bool has_local_rope;  // sliding layers rotate by a base of their own
  uint64_t n_layers_27b;  // of the one size that scales by another width than its heads'
};
constexpr Gemma kGemma2 = {2, 50, 30, false, 46};
constexpr Gemma kGemma3 = {6, 0, 0, true, 62};

struct Architecture {
  std::string_view name;
  std::string_view
      pairing;  // llama's Q and K rows are permuted by the converter, the others' are as trained
  std::string_view activation;
  bool qk_norm;
  bool always_qkv_bias;
  const Gemma* gemma;  // null: none
};

constexpr Architecture kArchitectures[] = {
    {"llama", "interleaved", "silu", false, false, nullptr},
    {"qwen2", "half", "silu", false, true, nullptr},
    {"qwen3", "half", "silu", true, false, nullptr},
    {"gemma2", "half", "gelu_tanh", false, false, &kGemma2},
    {"gemma3", "half", "gelu_tanh", true, false, &kGemma3},
};

Result<const Architecture*> architecture(const File& file) {
  const Entry* entry = file.metadata().find("general.architecture");
  if (entry == nullptr || entry->type != kString) {
    return Error{PLUMB_CORRUPT, "general.architecture is " +
                                    (entry == nullptr ? "missing" : type_name(*entry)) +
                                    ", expected a string"};
  }
  const std::string_view name = to_view(entry->value.as.str);
  for (const Architecture& known : kArchitectures) {
    if (known.name == name) return &known;
  }
  return Error{PLUMB_UNSUPPORTED, "byte " + std::to_string(entry->offset) + ": architecture " +
                                      quoted(name) +
                                      ", expected llama, qwen2, qwen3, gemma2 or gemma3"};
}

/// What would change the model's results and has no word in the JSON is refused, not ignored.
Result<void> refuse_unknown(const Facts& facts, const Architecture& arch) {
  for (const char* key :
       {"expert_count", "attention.scale", "residual_scale", "embedding_scale", "logit_scale"}) {
    PLUMB_TRY(facts.must_be_off(key));
  }
  return arch.gemma != nullptr ? Result<void>() : facts.must_be_off("attention.sliding_window");
}

Result<void> add_shape(const Facts& facts, json& out) {
  const plumb_tensor* embedding = facts.file().find_tensor("token_embd.weight");
  if (embedding == nullptr) return Error{PLUMB_CORRUPT, "tensor token_embd.weight is missing"};
  if (embedding->rank != 2 || embedding->dims[0] > INT32_MAX) {
    return Error{PLUMB_CORRUPT, "tensor token_embd.weight has " + std::to_string(embedding->rank) +
                                    " dimensions and " + std::to_string(embedding->dims[0]) +
                                    " rows, expected 2 and at most 2147483647"};
  }
  PLUMB_ASSIGN(const uint64_t n_layers, facts.count("block_count"));
  const uint64_t n_tensors = facts.file().tensors().size();
  if (n_layers > n_tensors) {
    return facts.bad(PLUMB_CORRUPT, "block_count",
                     "is " + std::to_string(n_layers) + ", expected no more than the file's " +
                         std::to_string(n_tensors) + " tensors");
  }
  PLUMB_ASSIGN(const uint64_t d_model, facts.count("embedding_length"));
  PLUMB_ASSIGN(const uint64_t n_heads, facts.count("attention.head_count"));
  PLUMB_ASSIGN(const uint64_t n_heads_kv, facts.count_or("attention.head_count_kv", n_heads));
  PLUMB_ASSIGN(const uint64_t d_ff, facts.count("feed_forward_length"));
  PLUMB_ASSIGN(const uint64_t n_context, facts.count("context_length"));
  if (n_heads % n_heads_kv != 0) {
    return facts.bad(PLUMB_CORRUPT, "attention.head_count_kv",
                     "is " + std::to_string(n_heads_kv) + ", expected a divisor of the " +
                         std::to_string(n_heads) + " heads");
  }
  if (!facts.has("attention.key_length") && d_model % n_heads != 0) {
    return facts.bad(PLUMB_CORRUPT, "attention.head_count",
                     "is " + std::to_string(n_heads) +
                         ", expected a divisor of embedding_length, " + std::to_string(d_model) +
                         ", where attention.key_length is missing");
  }
  PLUMB_ASSIGN(const uint64_t head_width,
               facts.count_or("attention.key_length", d_model / n_heads));
  PLUMB_ASSIGN(const uint64_t value_width, facts.count_or("attention.value_length", head_width));
  if (value_width != head_width) {
    return facts.bad(PLUMB_UNSUPPORTED, "attention.value_length",
                     "is " + std::to_string(value_width) + ", expected the same as the keys' " +
                         std::to_string(head_width));
  }
  out["n_layers"] = n_layers;
  out["d_model"] = d_model;
  out["n_heads"] = n_heads;
  out["n_heads_kv"] = n_heads_kv;
  out["head_width"] = head_width;
  out["d_ff"] = d_ff;
  out["n_vocab"] = embedding->dims[0];
  out["n_context_train"] = n_context;
  out["attention_scale"] = 1 / std::sqrt(static_cast<double>(head_width));
  return {};
}

Result<void> add_gemma(const Facts& facts, const Gemma& gemma, json& out) {
  const auto n_layers = out["n_layers"].get<uint64_t>();
  const auto d_model = out["d_model"].get<double>();
  out["embedding_scale"] = std::sqrt(d_model);
  // Source: gemma_pytorch, config.py: the 27B models.
  if (n_layers == gemma.n_layers_27b)
    out["attention_scale"] = 1 / std::sqrt(d_model / out["n_heads"].get<double>());
  PLUMB_ASSIGN(out["attention_softcap"],
               facts.positive_or("attn_logit_softcapping", gemma.attention_softcap));
  PLUMB_ASSIGN(out["logit_softcap"],
               facts.positive_or("final_logit_softcapping", gemma.logit_softcap));
  PLUMB_ASSIGN(const uint64_t window, facts.count("attention.sliding_window"));
  PLUMB_ASSIGN(const uint64_t period,
               facts.count_or("attention.sliding_window_pattern", gemma.period));
  out["sliding_window"] = window;
  json& sliding = out["sliding_layers"] = json::array();
  for (uint64_t layer = 0; layer < n_layers; ++layer) sliding.push_back((layer + 1) % period != 0);
  if (gemma.has_local_rope) {
    PLUMB_ASSIGN(out["rope_local"], rope_local(facts, out["rope"]));
  }
  return {};
}

}  // namespace

Result<std::string> hyper_parameters(const File& file) {
  PLUMB_ASSIGN(const Architecture* arch, architecture(file));
  const Facts facts(file, arch->name);
  PLUMB_TRY(refuse_unknown(facts, *arch));
  PLUMB_ASSIGN(const std::string_view name, Facts(file, "general").text_or("name", ""));
  PLUMB_ASSIGN(const double epsilon, facts.positive("attention.layer_norm_rms_epsilon"));

  json out{{"architecture", arch->name},
           {"name", name},
           {"norm_epsilon", epsilon},
           {"activation", arch->activation},
           {"qk_norm", arch->qk_norm},
           {"qkv_bias", arch->always_qkv_bias || file.find_tensor("blk.0.attn_q.bias") != nullptr},
           {"tied_head", file.find_tensor("output.weight") == nullptr},
           {"embedding_scale", 1.0},
           {"attention_softcap", 0.0},
           {"logit_softcap", 0.0},
           {"sliding_window", 0}};
  PLUMB_TRY(add_shape(facts, out));
  PLUMB_ASSIGN(out["rope"], rope(facts, arch->pairing, out["head_width"].get<uint64_t>(),
                                 out["n_context_train"].get<uint64_t>()));
  if (arch->gemma != nullptr) PLUMB_TRY(add_gemma(facts, *arch->gemma, out));
  // The file's name may be any bytes; what is not UTF-8 is replaced.
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace plumbline::loaders::gguf
