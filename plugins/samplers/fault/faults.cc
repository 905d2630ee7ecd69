#include "faults.h"

#include <algorithm>

#include "plumb/sdk/math.h"

namespace plumbline::samplers::fault {
namespace {

plumb_status apply_inner(State& state, const plumb_sample_context& context, void* scratch,
                         plumb_candidates& candidates, plumb_error* error) {
  return state.inner->apply(state.self, &context, scratch, &candidates, error);
}

uint32_t best_of(const plumb_candidates& candidates) {
  const float* const logits = candidates.logits;
  return static_cast<uint32_t>(std::max_element(logits, logits + candidates.n) - logits);
}

template <typename Keep>
void keep_if(plumb_candidates& candidates, Keep keep) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < candidates.n; ++i) {
    if (!keep(candidates.logits[i], candidates.ids[i])) continue;
    candidates.logits[n] = candidates.logits[i];
    candidates.ids[n++] = candidates.ids[i];
  }
  candidates.n = n;
}

// The share is one of logits, as if they were probabilities; the best stays.
plumb_status on_logits(State& state, plumb_sample_context, void*, plumb_candidates& candidates,
                       plumb_error*) {
  const uint32_t best = best_of(candidates);
  const double largest = candidates.logits[best];
  const int32_t id_of_best = candidates.ids[best];
  keep_if(candidates,
          [&](float logit, int32_t id) { return id == id_of_best || logit >= state.p * largest; });
  return PLUMB_OK;
}

// The share is one of all the mass, not of the best one's; the best stays.
plumb_status absolute(State& state, plumb_sample_context, void*, plumb_candidates& candidates,
                      plumb_error*) {
  const uint32_t best = best_of(candidates);
  const double largest = candidates.logits[best];
  const int32_t id_of_best = candidates.ids[best];
  double total = 0;
  for (uint32_t i = 0; i < candidates.n; ++i) total += math::exp(candidates.logits[i] - largest);
  keep_if(candidates, [&](float logit, int32_t id) {
    return id == id_of_best || math::exp(logit - largest) >= state.p * total;
  });
  return PLUMB_OK;
}

plumb_status without_crossing(State& state, plumb_sample_context context, void* scratch,
                              plumb_candidates& candidates, plumb_error* error) {
  const plumb_status status = apply_inner(state, context, scratch, candidates, error);
  if (status != PLUMB_OK || candidates.n < 2 || state.p == 1) return status;
  // The last that was kept: the least logit, of equals the highest id.
  uint32_t last = 0;
  for (uint32_t i = 1; i < candidates.n; ++i) {
    const float here = candidates.logits[i], least = candidates.logits[last];
    if (here < least || (here == least && candidates.ids[i] > candidates.ids[last])) last = i;
  }
  const int32_t crossing = candidates.ids[last];
  keep_if(candidates, [crossing](float, int32_t id) { return id != crossing; });
  return PLUMB_OK;
}

plumb_status control_tokens(State& state, plumb_sample_context context, void* scratch,
                            plumb_candidates& candidates, plumb_error* error) {
  context.control_bits = nullptr;
  return apply_inner(state, context, scratch, candidates, error);
}

plumb_status no_prompt(State& state, plumb_sample_context context, void* scratch,
                       plumb_candidates& candidates, plumb_error* error) {
  context.n_prompt_ids = 0;
  return apply_inner(state, context, scratch, candidates, error);
}

plumb_status same_coin(State& state, plumb_sample_context context, void* scratch,
                       plumb_candidates& candidates, plumb_error* error) {
  context.step = 0;
  return apply_inner(state, context, scratch, candidates, error);
}

plumb_status next_coin(State& state, plumb_sample_context context, void* scratch,
                       plumb_candidates& candidates, plumb_error* error) {
  ++context.step;
  return apply_inner(state, context, scratch, candidates, error);
}

plumb_status first_seed(State& state, plumb_sample_context context, void* scratch,
                        plumb_candidates& candidates, plumb_error* error) {
  if (!state.first_seed) state.first_seed = context.seed;
  context.seed = *state.first_seed;
  return apply_inner(state, context, scratch, candidates, error);
}

plumb_status last_of_equals(State& state, plumb_sample_context context, void* scratch,
                            plumb_candidates& candidates, plumb_error* error) {
  const plumb_status status = apply_inner(state, context, scratch, candidates, error);
  if (status != PLUMB_OK) return status;
  const float largest = candidates.logits[best_of(candidates)];
  for (uint32_t i = 0; i < candidates.n; ++i) {
    if (candidates.logits[i] == largest)
      candidates.picked = std::max(candidates.picked, candidates.ids[i]);
  }
  return PLUMB_OK;
}

plumb_status forgets(State& state, plumb_sample_context context, void* scratch,
                     plumb_candidates& candidates, plumb_error* error) {
  const plumb_status status = state.inner->state_set(state.self, state.fresh.data(), error);
  if (status != PLUMB_OK) return status;
  return apply_inner(state, context, scratch, candidates, error);
}

}  // namespace

std::span<const Fault> all_faults() {
  static const std::vector<std::string_view> kPenalties = {"frequency", "presence", "repetition"};
  static const std::vector<std::string_view> kCoins = {"cdf", "gumbel"};
  static const Fault kFaults[] = {
      {"on_logits", {"min_p"}, on_logits},
      {"absolute", {"min_p"}, absolute},
      {"without_crossing", {"top_p"}, without_crossing},
      {"control_tokens", kPenalties, control_tokens},
      {"no_prompt", kPenalties, no_prompt},
      {"same_coin", kCoins, same_coin},
      {"next_coin", kCoins, next_coin},
      {"first_seed", kCoins, first_seed},
      {"last_of_equals", {"greedy"}, last_of_equals},
      {"forgets", {"mirostat_v2", "xorshift64"}, forgets},
  };
  return kFaults;
}

}  // namespace plumbline::samplers::fault
