#include <cfloat>
#include <cmath>

#include "candidates.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// z / t in f64, rounded to f32. Where the largest would overflow, (z - largest) / t: the same
/// distribution.
class Temperature : public Stage {
 public:
  Temperature(double t, uint32_t n_vocab) : t_(t), n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return n_vocab_ * sizeof(uint64_t); }

  plumb_status apply(const plumb_sample_context&, void* scratch, plumb_candidates& candidates,
                     plumb_error* error) const override {
    // Division can make neighbours equal, which would leave them out of the order by logit.
    if (candidates.order != PLUMB_ORDER_ID) {
      order_by_id(candidates, static_cast<uint64_t*>(scratch));
    }
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    const double largest = candidates.logits[best];
    const double shift = std::fabs(largest / t_) > FLT_MAX ? largest : 0;
    for (uint32_t i = 0; i < candidates.n; ++i) {
      const double scaled = (candidates.logits[i] - shift) / t_;
      candidates.logits[i] = scaled < -FLT_MAX ? -INFINITY : static_cast<float>(scaled);
    }
    return PLUMB_OK;
  }

 private:
  double t_;
  uint32_t n_vocab_;
};

Created create(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(const double t, parameters.number(
                                   "t", [](double x) { return x > 0 && x <= DBL_MAX; },
                                   "a number above 0; for the likeliest id use the stage greedy"));
  return Created(std::make_unique<Temperature>(t, n_vocab));
}

}  // namespace

const StageKind kTemperature = {
    "temperature",
    R"({"type": "object", "properties": {"t": {"type": "number", "exclusiveMinimum": 0, "description": "divides every logit"}}, "required": ["t"], "additionalProperties": false})",
    create};

}  // namespace plumbline::samplers::core
