#include "rope_facts.h"

#include <cmath>

#include "plumb/sdk/math.h"

namespace plumbline::loaders::gguf {
namespace {

using nlohmann::json;

constexpr double kDefaultBase = 10000;

/// rope_freqs.weight must be what the kind "factors" promises.
Result<void> check_factors(const plumb_tensor& factors, uint64_t n_rotated) {
  const std::string where = "byte " + std::to_string(factors.file_offset) + ": rope_freqs.weight ";
  if (factors.format != PLUMB_F32 || factors.rank != 1 || factors.dims[0] != n_rotated / 2) {
    return Error{PLUMB_CORRUPT, where + "has " + std::to_string(factors.data.bytes) + " bytes in " +
                                    std::to_string(factors.rank) + " dimensions, expected f32[" +
                                    std::to_string(n_rotated / 2) + "]"};
  }
  for (uint64_t i = 0; i < factors.dims[0]; ++i) {
    float factor;
    std::memcpy(&factor, factors.data.data + i * sizeof factor, sizeof factor);
    if (!std::isfinite(factor) || factor <= 0) {
      return Error{PLUMB_CORRUPT, where + "has " + std::to_string(factor) + " at index " +
                                      std::to_string(i) + ", expected finite numbers above 0"};
    }
  }
  return {};
}

Result<json> yarn(const Facts& facts, double factor, uint64_t n_context_train) {
  PLUMB_ASSIGN(const double attention, facts.positive_or("rope.scaling.attn_factor", 1));
  PLUMB_ASSIGN(const double beta_fast, facts.positive_or("rope.scaling.yarn_beta_fast", 32));
  PLUMB_ASSIGN(const double beta_slow, facts.positive_or("rope.scaling.yarn_beta_slow", 1));
  PLUMB_ASSIGN(const uint64_t original,
               facts.count_or("rope.scaling.original_context_length", n_context_train));
  // The file's factor comes on top of YaRN's own temperature, which transformers computes in the
  // same way.
  return json{{"kind", "yarn"},
              {"factor", factor},
              {"original_context", original},
              {"beta_fast", beta_fast},
              {"beta_slow", beta_slow},
              {"attention_factor", attention * (factor > 1 ? 0.1 * math::log(factor) + 1 : 1)}};
}

Result<json> scaling(const Facts& facts, uint64_t n_rotated, uint64_t n_context_train) {
  const plumb_tensor* factors = facts.file().find_tensor("rope_freqs.weight");
  PLUMB_ASSIGN(const std::string_view kind, facts.text_or("rope.scaling.type", "linear"));
  const char* factor_key =
      facts.has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
  PLUMB_ASSIGN(const double factor, facts.positive_or(factor_key, 1));
  if (kind != "none" && kind != "linear" && kind != "yarn") {
    return facts.bad(PLUMB_UNSUPPORTED, "rope.scaling.type",
                     "is " + quoted(kind) + ", expected none, linear or yarn");
  }
  const bool scaled = kind != "none" && factor != 1;
  if (factors != nullptr) {
    if (scaled) {
      return facts.bad(PLUMB_UNSUPPORTED, factor_key,
                       "is not 1, expected no scaling beside rope_freqs.weight");
    }
    PLUMB_TRY(check_factors(*factors, n_rotated));
    return json{{"kind", "factors"}};
  }
  if (!scaled) return json{{"kind", "none"}};
  if (kind == "linear") return json{{"kind", "linear"}, {"factor", factor}};
  return yarn(facts, factor, n_context_train);
}

}  // namespace

Result<json> rope(const Facts& facts, std::string_view pairing, uint64_t head_width,
                  uint64_t n_context_train) {
  PLUMB_ASSIGN(const uint64_t n_rotated, facts.count_or("rope.dimension_count", head_width));
  if (n_rotated % 2 != 0 || n_rotated > head_width) {
    return facts.bad(PLUMB_CORRUPT, "rope.dimension_count",
                     "is " + std::to_string(n_rotated) +
                         ", expected an even number up to the head width, " +
                         std::to_string(head_width));
  }
  PLUMB_ASSIGN(const double base, facts.positive_or("rope.freq_base", kDefaultBase));
  PLUMB_ASSIGN(json scaled, scaling(facts, n_rotated, n_context_train));
  return json{{"pairing", pairing},
              {"n_rotated", n_rotated},
              {"base", base},
              {"scaling", std::move(scaled)}};
}

Result<json> rope_local(const Facts& facts, const json& global) {
  json local = global;
  PLUMB_ASSIGN(const double base, facts.positive_or("rope.freq_base_swa", kDefaultBase));
  local["base"] = base;
  local["scaling"] = json{{"kind", "none"}};
  return local;
}

}  // namespace plumbline::loaders::gguf
