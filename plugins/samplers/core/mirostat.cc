#include <cfloat>
#include <cmath>
#include <cstring>

#include "candidates.h"
#include "mass.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/philox.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

constexpr double kBitsOfNat = 0x1.71547652b82fep0;  // 1 / ln 2

/// Keeps the candidates with at most mu bits of surprise, draws one by mass, and moves mu so that
/// the picks' surprise comes to tau. Source: Basu et al. 2021, "Mirostat", algorithm 2.
class MirostatV2 : public Stage {
 public:
  MirostatV2(double tau, double eta, uint32_t n_vocab)
      : tau_(tau), eta_(eta), mu_(2 * tau), n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return n_vocab_ * sizeof(double); }

  plumb_status apply(const plumb_sample_context& context, void* scratch,
                     plumb_candidates& candidates, plumb_error* error) override {
    if (context.step == 0) mu_ = 2 * tau_;
    if (candidates.picked >= 0) return PLUMB_OK;
    if (candidates.order != PLUMB_ORDER_ID)
      order_by_id(candidates, static_cast<uint64_t*>(scratch));
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    const float largest = candidates.logits[best];
    const int32_t best_id = candidates.ids[best];
    const auto distribution = Distribution::of(candidates, largest);
    keep_if(candidates, [&](float logit, int32_t id) {
      return id == best_id || distribution.surprise(logit) * kBitsOfNat <= mu_;
    });
    draw_by_mass(candidates, largest, coin_cdf(context.seed, context.step),
                 static_cast<double*>(scratch));
    const double surprise = -math::log(candidates.probability) * kBitsOfNat;
    mu_ = std::clamp(mu_ - eta_ * (surprise - tau_), -double{FLT_MAX}, double{FLT_MAX});
    return PLUMB_OK;
  }

  uint64_t state_bytes() const override { return sizeof mu_; }
  void state_get(void* to) const override { std::memcpy(to, &mu_, sizeof mu_); }
  plumb_status state_set(const void* from, plumb_error* error) override {
    double mu = 0;
    std::memcpy(&mu, from, sizeof mu);
    if (!(std::fabs(mu) <= FLT_MAX))
      return failf(error, PLUMB_INVALID_ARGUMENT, "a mu of %g, expected a finite number", mu);
    mu_ = mu;
    return PLUMB_OK;
  }

 private:
  double tau_, eta_;
  double mu_;
  uint32_t n_vocab_;
};

Created create(Parameters& parameters, uint32_t n_vocab) {
  const auto is_small = [](double x) { return x >= 0 && x <= 1e6; };
  constexpr const char* kExpected = "a number from 0 to 1000000";
  PLUMB_ASSIGN(const double tau, parameters.number_or("tau", 5, is_small, kExpected));
  PLUMB_ASSIGN(const double eta, parameters.number_or("eta", 0.1, is_small, kExpected));
  return Created(std::make_unique<MirostatV2>(tau, eta, n_vocab));
}

}  // namespace

const StageKind kMirostatV2 = {
    "mirostat_v2",
    R"({"type": "object", "properties": {"tau": {"type": "number", "minimum": 0, "maximum": 1000000, "default": 5, "description": "bits of surprise that the picks shall have on average"}, "eta": {"type": "number", "minimum": 0, "maximum": 1000000, "default": 0.1, "description": "how fast the threshold follows"}}, "additionalProperties": false})",
    create};

}  // namespace plumbline::samplers::core
