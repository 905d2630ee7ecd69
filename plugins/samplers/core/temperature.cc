#include <algorithm>
#include <cfloat>
#include <cmath>

#include "candidates.h"
#include "mass.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// z / t in f64, rounded to f32. Where the largest would overflow, (z - largest) / t: the same
/// distribution.
void divide(plumb_candidates& candidates, double largest, double t) {
  const double shift = std::fabs(largest / t) > FLT_MAX ? largest : 0;
  for (uint32_t i = 0; i < candidates.n; ++i) {
    const double scaled = (candidates.logits[i] - shift) / t;
    candidates.logits[i] = scaled < -FLT_MAX ? -INFINITY : static_cast<float>(scaled);
  }
}

void keep_only(plumb_candidates& candidates, uint32_t index) {
  candidates.ids[0] = candidates.ids[index];
  candidates.logits[0] = candidates.logits[index];
  candidates.n = 1;
}

/// A stage that divides all logits by one number.
class Division : public Stage {
 public:
  explicit Division(uint32_t n_vocab) : n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return n_vocab_ * sizeof(uint64_t); }

  plumb_status apply(const plumb_sample_context&, void* scratch, plumb_candidates& candidates,
                     plumb_error* error) override {
    // Division can make neighbours equal, which would leave them out of the order by logit.
    if (candidates.order != PLUMB_ORDER_ID)
      order_by_id(candidates, static_cast<uint64_t*>(scratch));
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    const double t = divisor(candidates, candidates.logits[best]);
    if (t > 0) {
      divide(candidates, candidates.logits[best], t);
    } else {
      keep_only(candidates, best);
    }
    return PLUMB_OK;
  }

 private:
  /// 0: only the best stays.
  virtual double divisor(const plumb_candidates& candidates, float largest) const = 0;

  uint32_t n_vocab_;
};

class Temperature : public Division {
 public:
  Temperature(double t, uint32_t n_vocab) : Division(n_vocab), t_(t) {}

 private:
  double divisor(const plumb_candidates&, float) const override { return t_; }

  double t_;
};

/// A temperature from t - range to t + range, by the entropy of the row against the most that so
/// many candidates could have. Source: kalomaze, llama.cpp pull request 4972.
class DynamicTemperature : public Division {
 public:
  DynamicTemperature(double t, double range, double exponent, uint32_t n_vocab)
      : Division(n_vocab),
        lowest_(std::max(0.0, t - range)),
        highest_(t + range),
        exponent_(exponent) {}

 private:
  double divisor(const plumb_candidates& candidates, float largest) const override {
    if (candidates.n == 1) return 1;
    const double h = Distribution::of(candidates, largest).entropy;
    // Rounding may leave h a hair below 0, or above the most.
    const double share = std::clamp(h / math::log(candidates.n), 0.0, 1.0);
    const double risen = share > 0 ? math::pow(share, exponent_) : exponent_ > 0 ? 0 : 1;
    return lowest_ + (highest_ - lowest_) * risen;
  }

  double lowest_, highest_, exponent_;
};

bool is_nonnegative(double x) {
  return x >= 0 && x <= FLT_MAX;
}

Created create_temperature(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(const double greedy_below,
               parameters.number_or("greedy_below", -1, is_nonnegative, "a number of at least 0"));
  PLUMB_ASSIGN(const double t,
               greedy_below < 0
                   ? parameters.number(
                         "t", [](double x) { return x > 0 && x <= DBL_MAX; },
                         "a number above 0; for the likeliest id use the stage greedy, or say "
                         "greedy_below")
                   : parameters.number("t", is_nonnegative, "a number of at least 0"));
  return Created(std::make_unique<Temperature>(t <= greedy_below ? 0 : t, n_vocab));
}

Created create_dynamic(Parameters& parameters, uint32_t n_vocab) {
  constexpr const char* kExpected = "a number of at least 0";
  PLUMB_ASSIGN(const double t, parameters.number("t", is_nonnegative, kExpected));
  PLUMB_ASSIGN(const double range, parameters.number("range", is_nonnegative, kExpected));
  PLUMB_ASSIGN(const double exponent,
               parameters.number_or("exponent", 1, is_nonnegative, kExpected));
  return Created(std::make_unique<DynamicTemperature>(t, range, exponent, n_vocab));
}

}  // namespace

const StageKind kTemperature = {
    "temperature",
    R"({"type": "object", "properties": {"t": {"type": "number", "minimum": 0, "description": "divides every logit; 0 only with greedy_below"}, "greedy_below": {"type": "number", "minimum": 0, "description": "where t is not above it, only the best candidate stays"}}, "required": ["t"], "additionalProperties": false})",
    create_temperature};
const StageKind kDynamicTemperature = {
    "dynamic_temperature",
    R"({"type": "object", "properties": {"t": {"type": "number", "minimum": 0, "description": "the temperature's middle"}, "range": {"type": "number", "minimum": 0, "description": "how far the temperature goes to either side, by the entropy"}, "exponent": {"type": "number", "minimum": 0, "default": 1, "description": "of the entropy's share of the most possible"}}, "required": ["t", "range"], "additionalProperties": false})",
    create_dynamic};

}  // namespace plumbline::samplers::core
