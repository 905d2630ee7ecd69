#include "core/model/hyper_parameters.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace plumbline::model {
namespace {

using Json = nlohmann::json;

// Reads keys of one JSON object and keeps the first complaint.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  const std::optional<Error>& error() const { return error_; }

  void u32(const char* key, uint32_t& out, bool required = true) {
    const Json* value = find(key, required);
    if (value == nullptr) return;
    if (!value->is_number_integer() || value->get<double>() < 0 ||
        value->get<double>() > 2147483647.0 || (required && value->get<double>() < 1)) {
      return complain(key,
                      "a whole number from " + std::string(required ? "1" : "0") + " to 2147483647",
                      *value);
    }
    out = value->get<uint32_t>();
  }

  template <typename Float>
  void number(const char* key, Float& out, bool required = false) {
    const Json* value = find(key, required);
    if (value == nullptr) return;
    if (!value->is_number() || !std::isfinite(value->get<Float>()))
      return complain(key, "a finite number", *value);
    out = value->get<Float>();
  }

  void boolean(const char* key, bool& out) {
    const Json* value = find(key, false);
    if (value == nullptr) return;
    if (!value->is_boolean()) return complain(key, "true or false", *value);
    out = value->get<bool>();
  }

  void text(const char* key, std::string& out, bool required) {
    const Json* value = find(key, required);
    if (value == nullptr) return;
    if (!value->is_string()) return complain(key, "a string", *value);
    out = value->get<std::string>();
  }

  template <typename Enum>
  void choice(const char* key, Enum& out,
              std::initializer_list<std::pair<const char*, Enum>> choices, bool required) {
    std::string name;
    text(key, name, required);
    if (name.empty()) return;
    std::string expected;
    for (const auto& [choice_name, choice_value] : choices) {
      if (name == choice_name) {
        out = choice_value;
        return;
      }
      expected += (expected.empty() ? "" : ", ") + std::string(choice_name);
    }
    complain(key, "one of " + expected, Json(name));
  }

  const Json* find(const char* key, bool required) {
    const auto it = object_.find(key);
    if (it != object_.end()) return &*it;
    if (required && !error_) error_ = Error{PLUMB_CORRUPT, where_ + key + " is missing"};
    return nullptr;
  }

  void complain(const char* key, const std::string& expected, const Json& seen) {
    if (!error_) {
      error_ = Error{PLUMB_CORRUPT, where_ + key + ": expected " + expected + ", found " +
                                        seen.dump(-1, ' ', false, Json::error_handler_t::replace)};
    }
  }

 private:
  const Json& object_;
  std::string where_;
  std::optional<Error> error_;
};

Result<Rope> parse_rope(const Json& json, const std::string& where, uint32_t head_width) {
  if (!json.is_object()) return Error{PLUMB_CORRUPT, where + ": expected an object"};
  Rope rope;
  Reader reader(json, where + ".");
  reader.choice<uint32_t>("pairing", rope.pairing,
                          {{"half", PLUMB_ROPE_HALF}, {"interleaved", PLUMB_ROPE_INTERLEAVED}},
                          true);
  reader.u32("n_rotated", rope.n_rotated);
  reader.number("base", rope.base, true);
  if (const Json* scaling = reader.find("scaling", false)) {
    if (!scaling->is_object()) return Error{PLUMB_CORRUPT, where + ".scaling: expected an object"};
    Reader inner(*scaling, where + ".scaling.");
    inner.choice<Rope::Scaling>("kind", rope.scaling,
                                {{"none", Rope::Scaling::none},
                                 {"linear", Rope::Scaling::linear},
                                 {"factors", Rope::Scaling::factors},
                                 {"llama3", Rope::Scaling::llama3},
                                 {"yarn", Rope::Scaling::yarn}},
                                true);
    inner.number("factor", rope.factor);
    inner.u32("original_context", rope.original_context, false);
    inner.number("low_freq_factor", rope.low_freq_factor);
    inner.number("high_freq_factor", rope.high_freq_factor);
    inner.number("beta_fast", rope.beta_fast);
    inner.number("beta_slow", rope.beta_slow);
    inner.number("attention_factor", rope.attention_factor);
    if (inner.error()) return *inner.error();
  }
  if (reader.error()) return *reader.error();
  if (rope.n_rotated % 2 != 0 || rope.n_rotated > head_width) {
    return Error{PLUMB_CORRUPT,
                 where + ".n_rotated: expected an even number up to the head width " +
                     std::to_string(head_width) + ", found " + std::to_string(rope.n_rotated)};
  }
  if (!(rope.base > 1) || !(rope.factor > 0)) {
    return Error{PLUMB_CORRUPT, where + ": base must be above 1 and scaling.factor above 0"};
  }
  const bool needs_original =
      rope.scaling == Rope::Scaling::llama3 || rope.scaling == Rope::Scaling::yarn;
  if (needs_original && rope.original_context == 0) {
    return Error{PLUMB_CORRUPT, where + ".scaling.original_context: expected at least 1"};
  }
  if (!(rope.low_freq_factor > 0) || !(rope.high_freq_factor > rope.low_freq_factor)) {
    return Error{PLUMB_CORRUPT,
                 where + ".scaling: expected 0 < low_freq_factor < high_freq_factor"};
  }
  if (!(rope.beta_slow > 0) || !(rope.beta_fast > rope.beta_slow)) {
    return Error{PLUMB_CORRUPT, where + ".scaling: expected 0 < beta_slow < beta_fast"};
  }
  return rope;
}

}  // namespace

Result<HyperParameters> HyperParameters::parse(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Error{PLUMB_CORRUPT, "hyper-parameters: expected a JSON object"};
  HyperParameters hp;
  Reader reader(json, "hyper-parameters: ");
  reader.text("architecture", hp.architecture, true);
  reader.text("name", hp.name, false);
  reader.u32("n_layers", hp.n_layers);
  reader.u32("d_model", hp.d_model);
  reader.u32("n_heads", hp.n_heads);
  reader.u32("n_heads_kv", hp.n_heads_kv);
  reader.u32("head_width", hp.head_width);
  reader.u32("d_ff", hp.d_ff);
  reader.u32("n_vocab", hp.n_vocab);
  reader.u32("n_context_train", hp.n_context_train);
  reader.number("norm_epsilon", hp.norm_epsilon, true);
  reader.choice<uint32_t>("activation", hp.activation,
                          {{"silu", PLUMB_ACT_SILU},
                           {"gelu_tanh", PLUMB_ACT_GELU_TANH},
                           {"gelu_erf", PLUMB_ACT_GELU_ERF}},
                          true);
  reader.boolean("qk_norm", hp.qk_norm);
  reader.boolean("qkv_bias", hp.qkv_bias);
  reader.boolean("tied_head", hp.tied_head);
  if (reader.error()) return *reader.error();
  // sqrt is exact by IEEE 754, so this is the same number everywhere.
  hp.attention_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(hp.head_width)));
  reader.number("embedding_scale", hp.embedding_scale);
  reader.number("attention_scale", hp.attention_scale);
  reader.number("attention_softcap", hp.attention_softcap);
  reader.number("logit_softcap", hp.logit_softcap);
  reader.u32("sliding_window", hp.sliding_window, false);
  const Json* rope = reader.find("rope", true);
  if (reader.error()) return *reader.error();

  // No honest model comes near the limits; below them a row's width fits in 32 bits and every
  // product in 63.
  if (hp.n_layers > 4096 || hp.d_model > (1u << 20) || hp.d_ff > (1u << 24) ||
      hp.n_vocab > (1u << 26) || uint64_t{hp.n_heads} * hp.head_width > (1u << 24)) {
    return Error{PLUMB_UNSUPPORTED,
                 "hyper-parameters: a dimension is beyond what a model of this kind can have"};
  }
  if (hp.n_heads % hp.n_heads_kv != 0) {
    return Error{PLUMB_CORRUPT, "hyper-parameters: n_heads " + std::to_string(hp.n_heads) +
                                    " is no multiple of n_heads_kv " +
                                    std::to_string(hp.n_heads_kv)};
  }
  if (!(hp.norm_epsilon > 0))
    return Error{PLUMB_CORRUPT, "hyper-parameters: norm_epsilon must be above 0"};

  hp.sliding_layers.assign(hp.n_layers, false);
  if (const Json* layers = reader.find("sliding_layers", false)) {
    if (!layers->is_array() || layers->size() != hp.n_layers) {
      return Error{PLUMB_CORRUPT,
                   "hyper-parameters: sliding_layers: expected one boolean for each layer"};
    }
    for (uint32_t layer = 0; layer < hp.n_layers; ++layer) {
      if (!(*layers)[layer].is_boolean()) {
        return Error{PLUMB_CORRUPT,
                     "hyper-parameters: sliding_layers: expected one boolean for each layer"};
      }
      hp.sliding_layers[layer] = (*layers)[layer].get<bool>() && hp.sliding_window > 0;
    }
  }
  PLUMB_ASSIGN(hp.rope, parse_rope(*rope, "hyper-parameters: rope", hp.head_width));
  hp.rope_local = hp.rope;
  if (const Json* local = reader.find("rope_local", false)) {
    PLUMB_ASSIGN(hp.rope_local, parse_rope(*local, "hyper-parameters: rope_local", hp.head_width));
  }
  return hp;
}

}  // namespace plumbline::model
