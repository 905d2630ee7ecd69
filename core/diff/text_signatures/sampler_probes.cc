#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/diff/text_signatures/samplers.h"
#include "plumb/sdk/id_bits.h"
#include "plumb/sdk/philox.h"

namespace plumbline::diff {
namespace {

constexpr size_t kBest = 6;

// The best ids, so that what is done to them shows.
std::vector<int32_t> best_ids(const std::vector<float>& logits) {
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const size_t n = std::min(kBest, ids.size());
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n), ids.end(),
                    [&](int32_t x, int32_t y) {
                      return logits[static_cast<size_t>(x)] > logits[static_cast<size_t>(y)];
                    });
  ids.resize(n);
  return ids;
}

// A prompt and an answer of the best ids: the first in the prompt alone, the second in both, the
// third in the answer alone; the fourth, in both, is a control token. The answer's end, the sixth
// and fifth, is a repeat of the prompt, where the third follows.
void add_history(Draw& probe) {
  const std::vector<int32_t> ids = best_ids(probe.logits);
  if (ids.size() < kBest) return;
  probe.prompt_ids = {ids[0], ids[1], ids[3], ids[0], ids[5], ids[4], ids[2]};
  probe.generated_ids = {ids[1], ids[2], ids[3], ids[1], ids[2], ids[5], ids[4]};
  probe.control_bits.resize(id_words(probe.logits.size()));
  add_id(probe.control_bits, ids[3]);
}

}  // namespace

std::vector<Draw> sampler_probes(const Draw& given) {
  constexpr uint64_t kSeed = 20;
  constexpr double kScales[] = {0.01, 1, 3, 10};
  std::vector<Draw> probes;
  for (size_t scale = 0; scale < std::size(kScales); ++scale) {
    for (const bool has_ties : {false, true}) {
      for (uint64_t step = 0; step < 3; ++step) {
        Draw probe = given;
        probe.step = given.step + step;
        for (size_t id = 0; id < probe.logits.size(); ++id) {
          const double coin = coin_gumbel(kSeed + scale, step, static_cast<int32_t>(id));
          const double logit = std::log(coin / (1 - coin)) * kScales[scale];
          probe.logits[id] = static_cast<float>(has_ties ? std::floor(logit) : logit);
        }
        if (step > 0) add_history(probe);
        probes.push_back(std::move(probe));
      }
    }
  }
  Draw even = given;
  std::ranges::fill(even.logits, 0.0F);
  probes.push_back(std::move(even));
  return probes;
}

}  // namespace plumbline::diff
