#include <algorithm>

#include "candidates.h"
#include "mass.h"
#include "plumb/sdk/philox.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// "Exclude top choices": with some probability, of all candidates with at least a share of the
/// mass only the least likely stays. Source: p-e-w, text-generation-webui pull request 6335.
class Xtc : public Stage {
 public:
  Xtc(double probability, double threshold, uint64_t min_keep)
      : probability_(probability), most_surprise_(-math::log(threshold)), min_keep_(min_keep) {}

  plumb_status apply(const plumb_sample_context& context, void*, plumb_candidates& candidates,
                     plumb_error* error) override {
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    if (coin_xtc(context.seed, context.step) >= probability_) return PLUMB_OK;
    const auto distribution = Distribution::of(candidates, candidates.logits[best]);
    const auto is_top = [&](float logit) {
      return logit > -std::numeric_limits<float>::infinity() &&
             distribution.surprise(logit) <= most_surprise_;
    };
    uint64_t last = UINT64_MAX;
    uint32_t n_top = 0;
    for (uint32_t i = 0; i < candidates.n; ++i) {
      if (!is_top(candidates.logits[i])) continue;
      ++n_top;
      last = std::min(last, rank_key(candidates.logits[i], candidates.ids[i]));
    }
    if (n_top < 2 || candidates.n - (n_top - 1) < min_keep_) return PLUMB_OK;
    const AtOrBefore is_before(last + 1);
    keep_if(candidates, [&](float logit, int32_t id) { return !is_before(logit, id); });
    return PLUMB_OK;
  }

 private:
  double probability_;
  double most_surprise_;
  uint64_t min_keep_;
};

Created create(Parameters& parameters, uint32_t) {
  PLUMB_ASSIGN(const double probability,
               parameters.number("probability", is_share, "a number from 0 to 1; 0 is off"));
  PLUMB_ASSIGN(
      const double threshold,
      parameters.number_or(
          "threshold", 0.1, [](double x) { return x >= 0 && x <= 0.5; }, "a number from 0 to 0.5"));
  PLUMB_ASSIGN(const uint64_t min_keep, parameters.count_or("min_keep", 1, 1));
  return Created(std::make_unique<Xtc>(probability, threshold, min_keep));
}

}  // namespace

const StageKind kXtc = {
    "xtc",
    R"({"type": "object", "properties": {"probability": {"type": "number", "minimum": 0, "maximum": 1, "description": "how often it acts; 0: never"}, "threshold": {"type": "number", "minimum": 0, "maximum": 0.5, "default": 0.1, "description": "share of the mass from which a candidate is a top choice"}, )" PLUMB_MIN_KEEP_SCHEMA
    R"(}, "required": ["probability"], "additionalProperties": false})",
    create};

}  // namespace plumbline::samplers::core
