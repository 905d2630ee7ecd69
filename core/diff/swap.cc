#include "core/diff/swap.h"

#include <algorithm>
#include <cctype>

#include "core/diff/bisect_choices.h"

namespace plumbline::diff {
namespace {

constexpr const char* kParts =
    "kernels, kernels.OP[@LAYERS], activations, kv, threads, chunk, tokenizer, template, loader, "
    "model, profile, draw, or a key of the config";

struct Short {
  const char* part;
  const char* key;
};
constexpr Short kShorts[] = {
    {"activations", "kernels.activations"},
    {"kv", "kernels.kv"},
    {"threads", "kernels.threads"},
    {"chunk", "context.prefill_chunk"},
    {"tokenizer", "tokenizer.plugin"},
    {"template", "template.plugin"},
    {"loader", "model.loader"},
    {"profile", "sampling.profile"},
    {"draw", "sampling.draw"},
};

// Keys of kernels; any other name behind "kernels." is an op's.
constexpr const char* kKernelKeys[] = {"backend", "variant",   "activations", "kv",
                                       "threads", "overrides", "options"};

bool is_kernel_key(std::string_view name) {
  name = name.substr(0, name.find('.'));
  return std::any_of(std::begin(kKernelKeys), std::end(kKernelKeys),
                     [&](const char* key) { return name == key; });
}

// A text inside a YAML list on one line.
std::string quoted_yaml(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

std::string entry(std::string_view op, std::string_view layers, std::string_view backend,
                  std::string_view options) {
  std::string text = "{op: " + quoted_yaml(op);
  if (!layers.empty()) text += ", layers: " + std::string(layers);
  text += ", backend: " + quoted_yaml(backend);
  // JSON is YAML on one line.
  if (!options.empty()) text += ", options: " + std::string(options);
  return text + "}";
}

std::string entry(const config::KernelOverride& choice) {
  const std::string layers = choice.layers.is_all() ? ""
                                                    : std::to_string(choice.layers.first) + "-" +
                                                          std::to_string(choice.layers.last);
  return entry(choice.op, layers, choice.backend, choice.options_json);
}

// "3" -> "3-3", "3-5" as it is; empty: no layers.
std::string layer_range(std::string_view text) {
  const auto is_number = [](std::string_view digits) {
    return !digits.empty() && digits.size() < 9 &&
           std::all_of(digits.begin(), digits.end(),
                       [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  const size_t dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = dash == text.npos ? first : text.substr(dash + 1);
  if (!is_number(first) || !is_number(last)) return "";
  return std::string(first) + "-" + std::string(last);
}

Error refuse(const std::string& swap) {
  return {PLUMB_INVALID_ARGUMENT,
          "--swap " + swap + ": expected PART=VALUE with a PART of " + kParts};
}

}  // namespace

Result<std::vector<std::string>> swap_overrides(const std::vector<std::string>& swaps,
                                                const config::PipelineConfig& config) {
  std::vector<std::string> overrides;
  std::string ops;
  for (const std::string& swap : swaps) {
    const size_t equals = swap.find('=');
    if (equals == swap.npos || equals == 0 || equals + 1 == swap.size()) return refuse(swap);
    const std::string part = swap.substr(0, equals), value = swap.substr(equals + 1);
    const auto known = std::find_if(std::begin(kShorts), std::end(kShorts),
                                    [&](const Short& one) { return part == one.part; });
    if (part == "kernels") {
      const size_t colon = value.find(':');
      overrides.push_back("kernels.backend=" + value.substr(0, colon));
      // Another backend has variants and options of its own.
      overrides.push_back("kernels.variant=" +
                          (colon == value.npos ? "auto" : value.substr(colon + 1)));
      overrides.push_back("kernels.options={}");
    } else if (part == "model") {
      overrides.push_back("model.source={path: " + quoted_yaml(value) + "}");
    } else if (known != std::end(kShorts)) {
      overrides.push_back(std::string(known->key) + "=" + value);
    } else if (part.starts_with("kernels.") && !is_kernel_key(part.substr(8))) {
      const size_t at = part.find('@');
      const std::string layers =
          at == part.npos ? "" : layer_range(std::string_view(part).substr(at + 1));
      const std::string op = part.substr(8, at == part.npos ? at : at - 8);
      if (op.empty() || (at != part.npos && layers.empty())) return refuse(swap);
      ops += (ops.empty() ? "" : ", ") + entry(op, layers, value, "");
    } else if (part.find('.') != part.npos) {
      overrides.push_back(swap);
    } else {
      return refuse(swap);
    }
  }
  if (!ops.empty()) {
    for (const config::KernelOverride& choice : config.kernels.overrides)
      ops += ", " + entry(choice);
    overrides.push_back("kernels.overrides=[" + ops + "]");
  }
  return overrides;
}

std::vector<std::string> idle_swaps(const std::vector<std::string>& swaps,
                                    const config::ResolvedConfig& before,
                                    const config::ResolvedConfig& after) {
  const auto is_as_before = [&](const std::string& override) {
    const std::string key = override.substr(0, override.find('='));
    const config::Value* const was = before.tree.at(key);
    const config::Value* const is = after.tree.at(key);
    return was != nullptr && is != nullptr && one_line(*was) == one_line(*is);
  };
  std::vector<std::string> idle;
  for (const std::string& swap : swaps) {
    const auto overrides = swap_overrides({swap}, before.config);
    if (overrides && std::all_of(overrides->begin(), overrides->end(), is_as_before))
      idle.push_back(swap);
  }
  return idle;
}

}  // namespace plumbline::diff
