#include <algorithm>
#include <functional>

#include "candidates.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// Exactly k candidates: the best by logit, of equal logits those with lower ids.
class TopK : public Stage {
 public:
  TopK(uint64_t k, uint32_t n_vocab) : k_(std::min<uint64_t>(k, n_vocab)), n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override {
    return std::min<uint64_t>(2 * k_, n_vocab_) * sizeof(uint64_t);
  }

  plumb_status apply(const plumb_sample_context&, void* scratch, plumb_candidates& candidates,
                     plumb_error* error) const override {
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    if (k_ >= candidates.n) return PLUMB_OK;
    auto* keys = static_cast<uint64_t*>(scratch);
    const size_t n = select_best(candidates, k_, keys);
    keep_if(candidates, AtOrBefore(*std::min_element(keys, keys + n)));
    return PLUMB_OK;
  }

 private:
  uint64_t k_;
  uint32_t n_vocab_;
};

/// The smallest set of best candidates with at least the share p of the mass, and at least one.
/// Source: Holtzman et al. 2019, "The curious case of neural text degeneration".
class TopP : public Stage {
 public:
  TopP(double p, uint32_t n_vocab) : p_(p), n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return n_vocab_ * sizeof(uint64_t); }

  plumb_status apply(const plumb_sample_context&, void* scratch, plumb_candidates& candidates,
                     plumb_error* error) const override {
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    if (p_ == 1) return PLUMB_OK;  // a rounded sum must not decide
    const float largest = candidates.logits[best];
    const double wanted = p_ * total_weight(candidates, largest);
    auto* keys = static_cast<uint64_t*>(scratch);
    // A nucleus is mostly small: sort few, and more only if they do not reach. The sums run over
    // sorted keys, so they do not depend on how the selection left them.
    for (size_t m = 256;; m *= 16) {
      const size_t n = select_best(candidates, m, keys);
      std::sort(keys, keys + n, std::greater<>());
      double sum = 0;
      for (size_t i = 0; i < n; ++i) {
        sum += weight(logit_of(keys[i]), largest);
        if (sum < wanted) continue;
        keep_if(candidates, AtOrBefore(keys[i]));
        return PLUMB_OK;
      }
      if (n == candidates.n) return PLUMB_OK;
    }
  }

 private:
  double p_;
  uint32_t n_vocab_;
};

/// Every candidate with at least p times the mass of the best: z >= z_max + ln p.
/// Source: Nguyen et al. 2024, "Turning up the heat: min-p sampling".
class MinP : public Stage {
 public:
  explicit MinP(double p) : ln_p_(math::log(p)) {}

  plumb_status apply(const plumb_sample_context&, void*, plumb_candidates& candidates,
                     plumb_error* error) const override {
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    const double lowest = candidates.logits[best] + ln_p_;
    keep_if(candidates, [lowest](float logit, int32_t) { return logit >= lowest; });
    return PLUMB_OK;
  }

 private:
  double ln_p_;
};

bool is_share(double x) {
  return x >= 0 && x <= 1;
}

Created create_top_k(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(const uint64_t k, parameters.count("k"));
  return Created(std::make_unique<TopK>(k, n_vocab));
}

Created create_top_p(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(const double p, parameters.number("p", is_share, "a number from 0 to 1"));
  return Created(std::make_unique<TopP>(p, n_vocab));
}

Created create_min_p(Parameters& parameters, uint32_t) {
  PLUMB_ASSIGN(const double p, parameters.number("p", is_share, "a number from 0 to 1"));
  return Created(std::make_unique<MinP>(p));
}

}  // namespace

const StageKind kTopK = {
    "top_k",
    R"({"type": "object", "properties": {"k": {"type": "integer", "minimum": 1, "description": "how many candidates stay"}}, "required": ["k"], "additionalProperties": false})",
    create_top_k};
const StageKind kTopP = {
    "top_p",
    R"({"type": "object", "properties": {"p": {"type": "number", "minimum": 0, "maximum": 1, "description": "share of the mass that stays"}}, "required": ["p"], "additionalProperties": false})",
    create_top_p};
const StageKind kMinP = {
    "min_p",
    R"({"type": "object", "properties": {"p": {"type": "number", "minimum": 0, "maximum": 1, "description": "least mass, as a share of the best candidate's"}}, "required": ["p"], "additionalProperties": false})",
    create_min_p};

}  // namespace plumbline::samplers::core
