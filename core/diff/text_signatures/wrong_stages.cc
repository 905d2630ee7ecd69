#include "core/diff/text_signatures/wrong_stages.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "plumb/sdk/abi.h"
#include "plumb/sdk/math.h"

namespace plumbline::diff {
namespace {

/// The candidates by falling logit, of equals the lower id first, with their masses relative to the
/// first one's.
struct Ranked {
  struct One {
    uint32_t index;
    double mass;
  };
  std::vector<One> ones;
  double total = 0;

  explicit Ranked(const plumb_candidates& from) {
    for (uint32_t i = 0; i < from.n; ++i) ones.push_back({i, 0});
    std::sort(ones.begin(), ones.end(), [&](const One& x, const One& y) {
      const float left = from.logits[x.index], right = from.logits[y.index];
      return left != right ? left > right : from.ids[x.index] < from.ids[y.index];
    });
    const double largest = from.logits[ones.front().index];
    for (One& one : ones) one.mass = math::exp(from.logits[one.index] - largest);
    // Summed as the candidates lie, as stages do.
    for (uint32_t i = 0; i < from.n; ++i) total += math::exp(from.logits[i] - largest);
  }
};

// How many of the ranked candidates stay, where a stage has the parameter p.
using Rule = size_t (*)(const Ranked& ranked, const plumb_candidates& candidates, double p);

size_t min_p_on_logits(const Ranked& ranked, const plumb_candidates& candidates, double p) {
  const double least = p * double{candidates.logits[ranked.ones.front().index]};
  return static_cast<size_t>(std::ranges::count_if(
      ranked.ones, [&](const Ranked::One& one) { return candidates.logits[one.index] >= least; }));
}

size_t min_p_absolute(const Ranked& ranked, const plumb_candidates&, double p) {
  return static_cast<size_t>(std::ranges::count_if(
      ranked.ones, [&](const Ranked::One& one) { return one.mass >= p * ranked.total; }));
}

size_t top_p_without_crossing(const Ranked& ranked, const plumb_candidates&, double p) {
  if (p == 1) return ranked.ones.size();
  double sum = 0;
  for (size_t n = 0; n < ranked.ones.size(); ++n) {
    sum += ranked.ones[n].mass;
    if (sum >= p * ranked.total) return n;
  }
  return ranked.ones.size() - 1;
}

struct Self {
  Rule rule;
  double p;
};

template <auto kRule>
plumb_status create(const plumb_host*, plumb_str, plumb_str params_json, uint32_t, void** self,
                    plumb_error* error) {
  return guarded(error, [&] {
    const auto params = nlohmann::json::parse(to_view(params_json), nullptr, false);
    if (!params.is_object() || !params.contains("p") || !params["p"].is_number())
      return fail(error, PLUMB_INVALID_CONFIG, "expected a map with the number p");
    *self = new Self{kRule, params["p"].get<double>()};
    return PLUMB_OK;
  });
}

void destroy(void* self) {
  delete static_cast<Self*>(self);
}

uint64_t scratch_bytes(void*) {
  return 0;
}

plumb_status apply(void* self, const plumb_sample_context*, void*, plumb_candidates* candidates,
                   plumb_error* error) {
  return guarded(error, [&] {
    const Ranked ranked(*candidates);
    const auto& own = *static_cast<const Self*>(self);
    const size_t n = std::max<size_t>(own.rule(ranked, *candidates, own.p), 1);
    std::vector<bool> stays(candidates->n, false);
    for (size_t i = 0; i < n; ++i) stays[ranked.ones[i].index] = true;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < candidates->n; ++i) {
      if (!stays[i]) continue;
      candidates->ids[kept] = candidates->ids[i];
      candidates->logits[kept++] = candidates->logits[i];
    }
    candidates->n = kept;
    return PLUMB_OK;
  });
}

plumb_str stage_at(uint32_t) {
  return {};
}

template <auto kRule>
constexpr plumb_sampler kTable = {
    .struct_bytes = sizeof(plumb_sampler),
    .reserved = 0,
    .stage_at = stage_at,
    .parameters_schema_at = stage_at,
    .create = create<kRule>,
    .destroy = destroy,
    .scratch_bytes = scratch_bytes,
    .apply = apply,
    .state_bytes = nullptr,
    .state_get = nullptr,
    .state_set = nullptr,
};

constexpr WrongStage kWrongStages[] = {
    {"min_p_on_logits",
     "B's min_p keeps what has p times the best logit, A's what has p times the "
     "best probability",
     "min_p", &kTable<min_p_on_logits>},
    {"min_p_absolute",
     "B's min_p keeps what has a probability of p, A's what has p times the best "
     "one's",
     "min_p", &kTable<min_p_absolute>},
    {"top_p_without_crossing",
     "B's top_p drops the candidate with which the mass reaches p, A's keeps it", "top_p",
     &kTable<top_p_without_crossing>},
};

}  // namespace

std::span<const WrongStage> wrong_stages() {
  return kWrongStages;
}

}  // namespace plumbline::diff
