#include <algorithm>

#include "core/diff/text_signatures/samplers.h"
#include "plumb/sdk/id_bits.h"

namespace plumbline::diff {
namespace {

int32_t mirrored(int32_t id, size_t n_vocab) {
  return static_cast<int32_t>(n_vocab) - 1 - id;
}

void mirror(std::vector<int32_t>& ids, size_t n_vocab) {
  for (int32_t& id : ids) id = mirrored(id, n_vocab);
}

// The draw with all ids counted from the other end.
void mirror(Draw& draw) {
  const size_t n_vocab = draw.logits.size();
  std::ranges::reverse(draw.logits);
  mirror(draw.prompt_ids, n_vocab);
  mirror(draw.generated_ids, n_vocab);
  const std::vector<uint64_t> bits = draw.control_bits;
  std::ranges::fill(draw.control_bits, 0);
  for (size_t at = 0; at < n_vocab; ++at) {
    if (has_id(bits, static_cast<int32_t>(at)))
      add_id(draw.control_bits, static_cast<int32_t>(n_vocab - 1 - at));
  }
}

}  // namespace

void add_context_hypotheses(const SamplerEvidence& evidence, SamplerHypotheses& out) {
  const uint64_t seed_a = evidence.sampling_a.seed, seed_b = evidence.sampling_b.seed;
  if (seed_a != seed_b) {
    config::SamplingConfig changed = evidence.sampling_a;
    changed.seed = seed_b;
    out.push_back(config_hypothesis(
        evidence, "seed_changed",
        "B's coins have the seed " + std::to_string(seed_b) + ", A's " + std::to_string(seed_a),
        std::move(changed)));
  }
  if (evidence.sampling_a.breakers != evidence.sampling_b.breakers) {
    config::SamplingConfig changed = evidence.sampling_a;
    changed.breakers = evidence.sampling_b.breakers;
    out.push_back(config_hypothesis(evidence, "breakers_changed",
                                    "other texts end a repeat in B than in A", std::move(changed)));
  }
  const auto told = [&](const char* signature, std::string statement,
                        std::function<void(Draw&)> change) {
    out.push_back({signature, std::move(statement), [a = evidence.a, change = std::move(change)] {
                     return Result<SamplerSide>([a, change](Draw draw) {
                       change(draw);
                       return a(draw);
                     });
                   }});
  };
  told("coin_reused", "B's coins are those of the first step at every step",
       [](Draw& draw) { draw.step = 0; });
  told("coin_keyed_differently", "B's coins are those of one step later",
       [](Draw& draw) { ++draw.step; });
  told("coin_keyed_differently", "B's coins are those of one step earlier",
       [](Draw& draw) { --draw.step; });
  told("state_lost", "B's stages remember nothing from pick to pick",
       [](Draw& draw) { draw.state.clear(); });

  // The row backwards: among equals the last comes first. Other draws than greedy see ids in coins.
  const auto& stages = evidence.sampling_a.stages;
  if (stages.empty() || stages.back().stage != "greedy") return;
  out.push_back({"tie_break_changed", "B prefers the higher of two ids with the same logit",
                 [a = evidence.a] {
                   return Result<SamplerSide>([a](Draw draw) -> Result<Drawn> {
                     mirror(draw);
                     PLUMB_ASSIGN(Drawn drawn, a(draw));
                     const size_t n_vocab = draw.logits.size();
                     drawn.id = mirrored(drawn.id, n_vocab);
                     mirror(drawn.left.ids, n_vocab);
                     std::ranges::reverse(drawn.left.ids);
                     std::ranges::reverse(drawn.left.logits);
                     return drawn;
                   });
                 }});
}

}  // namespace plumbline::diff
