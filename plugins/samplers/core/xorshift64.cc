#include <cstring>

#include "candidates.h"
#include "mass.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// Inverse CDF as the stage cdf, with the coins of a xorshift generator: one a pick.
/// Source: Marsaglia 2003, "Xorshift RNGs", the triple 13, 7, 17.
class Xorshift64 : public Stage {
 public:
  explicit Xorshift64(uint32_t n_vocab) : n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return n_vocab_ * sizeof(double); }

  plumb_status apply(const plumb_sample_context& context, void* scratch,
                     plumb_candidates& candidates, plumb_error* error) override {
    constexpr uint64_t kSeedOfZero = 0x9E3779B97F4A7C15;  // the generator never leaves 0
    if (context.step == 0 || x_ == 0) x_ = context.seed != 0 ? context.seed : kSeedOfZero;
    if (candidates.picked >= 0) return PLUMB_OK;
    if (candidates.order != PLUMB_ORDER_ID)
      order_by_id(candidates, static_cast<uint64_t*>(scratch));
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    x_ ^= x_ << 13;
    x_ ^= x_ >> 7;
    x_ ^= x_ << 17;
    draw_by_mass(candidates, candidates.logits[best], static_cast<double>(x_ >> 40) * 0x1p-24,
                 static_cast<double*>(scratch));
    return PLUMB_OK;
  }

  uint64_t state_bytes() const override { return sizeof x_; }
  void state_get(void* to) const override { std::memcpy(to, &x_, sizeof x_); }
  plumb_status state_set(const void* from, plumb_error*) override {
    std::memcpy(&x_, from, sizeof x_);
    return PLUMB_OK;
  }

 private:
  uint64_t x_ = 0;  // 0: not seeded
  uint32_t n_vocab_;
};

}  // namespace

const StageKind kXorshift64 = {"xorshift64", kNoParameters, create_plain<Xorshift64>};

}  // namespace plumbline::samplers::core
