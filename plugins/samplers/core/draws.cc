#include <cmath>

#include "candidates.h"
#include "mass.h"
#include "plumb/sdk/philox.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// The first candidate by logit, then by id.
class Greedy : public Stage {
 public:
  explicit Greedy(uint32_t) {}

  plumb_status apply(const plumb_sample_context&, void*, plumb_candidates& candidates,
                     plumb_error* error) override {
    if (candidates.picked >= 0) return PLUMB_OK;
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    candidates.picked = candidates.ids[best];
    candidates.coin = candidates.probability = std::numeric_limits<double>::quiet_NaN();
    return PLUMB_OK;
  }
};

/// Inverse CDF: ids ascending, the first whose cumulative mass exceeds coin times the total.
class Cdf : public Stage {
 public:
  explicit Cdf(uint32_t n_vocab) : n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return n_vocab_ * sizeof(double); }

  plumb_status apply(const plumb_sample_context& context, void* scratch,
                     plumb_candidates& candidates, plumb_error* error) override {
    if (candidates.picked >= 0) return PLUMB_OK;
    if (candidates.order != PLUMB_ORDER_ID)
      order_by_id(candidates, static_cast<uint64_t*>(scratch));
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    draw_by_mass(candidates, candidates.logits[best], coin_cdf(context.seed, context.step),
                 static_cast<double*>(scratch));
    return PLUMB_OK;
  }

 private:
  uint32_t n_vocab_;
};

/// Gumbel-max: the largest z - ln(-ln coin(id)), of equal ones the lower id.
/// Source: Gumbel 1954; Maddison, Tarlow, Minka 2014, "A* sampling".
class Gumbel : public Stage {
 public:
  explicit Gumbel(uint32_t) {}

  plumb_status apply(const plumb_sample_context& context, void*, plumb_candidates& candidates,
                     plumb_error* error) override {
    if (candidates.picked >= 0) return PLUMB_OK;
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    uint32_t at = best;
    double at_coin = coin_gumbel(context.seed, context.step, candidates.ids[at]);
    double at_score = score(candidates.logits[at], at_coin);
    for (uint32_t i = 0; i < candidates.n; ++i) {
      const double coin = coin_gumbel(context.seed, context.step, candidates.ids[i]);
      if (cannot_win(candidates.logits[i], coin, at_score)) continue;
      const double challenger = score(candidates.logits[i], coin);
      if (challenger < at_score ||
          (challenger == at_score && candidates.ids[i] >= candidates.ids[at]))
        continue;
      at = i;
      at_coin = coin;
      at_score = challenger;
    }
    candidates.picked = candidates.ids[at];
    candidates.coin = at_coin;
    candidates.probability = weight(candidates.logits[at], candidates.logits[best]) /
                             Distribution::of(candidates, candidates.logits[best]).total;
    return PLUMB_OK;
  }

 private:
  static double score(float logit, double coin) { return logit - math::log(-math::log(coin)); }

  /// True only if score(logit, coin) < best, and found without a logarithm: score > best means
  /// -ln coin < e^(logit - best), and -ln coin >= 1 - coin, while e^x <= 2^ceil(x / ln 2). The
  /// bound is doubled, so that rounding cannot matter.
  static bool cannot_win(float logit, double coin, double best) {
    const double octaves = (logit - best) * 0x1.71547652b82fep0;
    if (octaves >= -2) return false;
    if (octaves < -60) return true;  // 1 - coin is at least 2^-53
    const auto ceiling = static_cast<int64_t>(octaves);
    return 1 - coin > std::bit_cast<double>(static_cast<uint64_t>(ceiling + 1 + 1023) << 52);
  }
};

}  // namespace

const StageKind kGreedy = {"greedy", kNoParameters, create_plain<Greedy>};
const StageKind kCdf = {"cdf", kNoParameters, create_plain<Cdf>};
const StageKind kGumbel = {"gumbel", kNoParameters, create_plain<Gumbel>};

}  // namespace plumbline::samplers::core
