#include "candidates.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "plumb/sdk/abi.h"

namespace plumbline::samplers::core {

plumb_status find_best(const plumb_candidates& candidates, uint32_t* index, plumb_error* error) {
  *index = 0;
  float best = -INFINITY;
  for (uint32_t i = 0; i < candidates.n; ++i) {
    const float logit = candidates.logits[i];
    if (!(logit < INFINITY)) {
      return failf(error, PLUMB_NUMERIC,
                   "logit of id %d is %g, expected a number or minus infinity", candidates.ids[i],
                   static_cast<double>(logit));
    }
    if (logit < best) continue;
    if (logit == best && candidates.ids[i] > candidates.ids[*index]) continue;
    best = logit;
    *index = i;
  }
  if (std::isinf(best)) {
    return failf(error, PLUMB_NUMERIC,
                 "all %u logits are minus infinity, expected at least one number", candidates.n);
  }
  return PLUMB_OK;
}

double total_weight(const plumb_candidates& candidates, float largest) {
  double total = 0;
  for (uint32_t i = 0; i < candidates.n; ++i) total += weight(candidates.logits[i], largest);
  return total;
}

size_t select_best(const plumb_candidates& candidates, size_t m, uint64_t* buffer) {
  return select_first(
      candidates.n, m, buffer, uint64_t{0},
      [&](uint32_t i) { return rank_key(candidates.logits[i], candidates.ids[i]); },
      std::greater<>());
}

void keep_best(plumb_candidates& candidates, size_t m, uint64_t* buffer) {
  if (m >= candidates.n) return;
  const size_t n = select_best(candidates, m, buffer);
  keep_if(candidates, AtOrBefore(*std::min_element(buffer, buffer + n)));
}

void order_by_id(plumb_candidates& candidates, uint64_t* buffer) {
  for (uint32_t i = 0; i < candidates.n; ++i) {
    buffer[i] = uint64_t{static_cast<uint32_t>(candidates.ids[i])} << 32 |
                std::bit_cast<uint32_t>(candidates.logits[i]);
  }
  std::sort(buffer, buffer + candidates.n);
  for (uint32_t i = 0; i < candidates.n; ++i) {
    candidates.ids[i] = static_cast<int32_t>(buffer[i] >> 32);
    candidates.logits[i] = std::bit_cast<float>(static_cast<uint32_t>(buffer[i]));
  }
  candidates.order = PLUMB_ORDER_ID;
}

void draw_by_mass(plumb_candidates& candidates, float largest, double coin, double* sums) {
  double total = 0;
  for (uint32_t i = 0; i < candidates.n; ++i) {
    total += weight(candidates.logits[i], largest);
    sums[i] = total;
  }
  // coin * total is below total, also as rounded, so the last sum exceeds it; the first that does
  // has mass.
  uint32_t at = 0;
  while (sums[at] <= coin * total) ++at;
  candidates.picked = candidates.ids[at];
  candidates.coin = coin;
  candidates.probability = weight(candidates.logits[at], largest) / total;
}

Distribution Distribution::of(const plumb_candidates& candidates, float largest) {
  const double total = total_weight(candidates, largest);
  return {largest, total, math::log(total)};
}

double entropy(const plumb_candidates& candidates, const Distribution& distribution) {
  // H = sum p (ln total - (z - largest)); where p rounds to nothing so does its part.
  double sum = 0;
  for (uint32_t i = 0; i < candidates.n; ++i) {
    const double below = static_cast<double>(candidates.logits[i]) - distribution.largest;
    const double mass = math::exp(below);
    if (mass > 0) sum += mass * below;
  }
  return distribution.ln_total - sum / distribution.total;
}

}  // namespace plumbline::samplers::core
