#include "mass.h"

namespace plumbline::samplers::core {

Distribution Distribution::of(const plumb_candidates& candidates, float largest, double* weights) {
  double total = 0;
  double below = 0;  // sum of mass times (z - largest)
  visit_weights(candidates.logits, candidates.n, largest,
                [&](uint32_t first, const double* masses, uint32_t n) {
                  if (weights != nullptr) std::copy_n(masses, n, weights + first);
                  const float* const logits = candidates.logits + first;
                  double sum = total, sum_below = below;  // in registers
                  for (uint32_t i = 0; i < n; ++i) {
                    sum += masses[i];
                    const double depth =
                        static_cast<double>(logits[i]) - static_cast<double>(largest);
                    sum_below += masses[i] > 0 ? masses[i] * depth : 0;
                  }
                  total = sum;
                  below = sum_below;
                });
  const double ln_total = math::log(total);
  return {largest, total, ln_total, ln_total - below / total};
}

void draw_by_mass(plumb_candidates& candidates, float largest, double coin, double* sums) {
  double total = 0;
  visit_weights(candidates.logits, candidates.n, largest,
                [&](uint32_t first, const double* masses, uint32_t n) {
                  double sum = total;  // of its own, which the compiler knows is none of sums
                  for (uint32_t i = 0; i < n; ++i) sums[first + i] = sum += masses[i];
                  total = sum;
                });
  // coin * total is below total, also as rounded, so the last sum exceeds it; the first that does
  // has mass.
  uint32_t at = 0;
  while (sums[at] <= coin * total) ++at;
  candidates.picked = candidates.ids[at];
  candidates.coin = coin;
  candidates.probability = weight(candidates.logits[at], largest) / total;
}

}  // namespace plumbline::samplers::core
