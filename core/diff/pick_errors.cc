#include "core/diff/pick_errors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

namespace plumbline::diff {
namespace {

// Of a distribution that two chains of the same stages made of the same logits: each stage may
// round each logit once, relative 2^-24, and logits are below 100.
constexpr double kRounding = 1e-5;

struct Candidates {
  std::vector<int32_t> ids;
  std::vector<float> logits;  // of each id

  /// In id order, however the stages left them.
  static Candidates of(const plumb_candidates& left) {
    Candidates found{{left.ids, left.ids + left.n}, {left.logits, left.logits + left.n}};
    if (left.order == PLUMB_ORDER_ID) return found;
    std::vector<uint32_t> order(left.n);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](uint32_t x, uint32_t y) { return left.ids[x] < left.ids[y]; });
    for (uint32_t i = 0; i < left.n; ++i) {
      found.ids[i] = left.ids[order[i]];
      found.logits[i] = left.logits[order[i]];
    }
    return found;
  }

  bool operator==(const Candidates& other) const {
    return ids == other.ids &&
           std::equal(logits.begin(), logits.end(), other.logits.begin(), [](float x, float y) {
             return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
           });
  }
};

struct Pair {
  int32_t id;
  double p, q;
};

// Both distributions over the ids that either has.
std::vector<Pair> joined(const Distribution& a, const Distribution& b) {
  std::vector<Pair> pairs;
  size_t i = 0, j = 0;
  while (i < a.ids.size() || j < b.ids.size()) {
    const bool has_a = i < a.ids.size() && (j == b.ids.size() || a.ids[i] <= b.ids[j]);
    const bool has_b = j < b.ids.size() && (i == a.ids.size() || b.ids[j] <= a.ids[i]);
    pairs.push_back({has_a ? a.ids[i] : b.ids[j], has_a ? a.probabilities[i] : 0,
                     has_b ? b.probabilities[j] : 0});
    i += has_a;
    j += has_b;
  }
  return pairs;
}

double as_probability(double value) {
  return std::clamp(value, 0.0, 1.0);
}

struct Picked {
  pipeline::Pick pick;
  std::vector<Candidates> stages;  // what each left
};

// end: why there was no pick; then the rest is empty.
Result<Picked> pick(pipeline::SamplerChain& chain, std::span<const float> logits,
                    const plumb_sample_context& context, std::optional<Error>& end) {
  Picked picked;
  auto made = chain.pick(logits, context, [&](size_t, const plumb_candidates& left) {
    picked.stages.push_back(Candidates::of(left));
  });
  if (!made) {
    for (const plumb_status ends : {PLUMB_CANCELLED, PLUMB_NUMERIC, PLUMB_NOT_FOUND}) {
      if (made.error().code != ends) continue;
      end = std::move(made).error();
      return picked;
    }
    return std::move(made).error();
  }
  picked.pick = *made;
  return picked;
}

std::string last_stage(const pipeline::SamplerChain& chain) {
  return chain.stage_name(chain.n_stages() - 1);
}

// Draws do not touch the candidates, so a chain that is longer by its draw alone differs nowhere.
std::string first_unequal_stage(const pipeline::SamplerChain& a,
                                const std::vector<Candidates>& of_a,
                                const pipeline::SamplerChain& b,
                                const std::vector<Candidates>& of_b) {
  for (size_t i = 0; i < std::max(of_a.size(), of_b.size()); ++i) {
    const Candidates& left_a = of_a[std::min(i, of_a.size() - 1)];
    const Candidates& left_b = of_b[std::min(i, of_b.size() - 1)];
    if (left_a == left_b) continue;
    const std::string name_a = i < of_a.size() ? a.stage_name(i) : "none";
    const std::string name_b = i < of_b.size() ? b.stage_name(i) : "none";
    return std::to_string(i) + "." + (name_a == name_b ? name_a : name_a + "/" + name_b);
  }
  return "";
}

// Of the last stages: what coin, if any, they throw.
double flip_probability(const std::string& draw_a, const std::string& draw_b,
                        const pipeline::Pick& a, const pipeline::Pick& b, const Distribution& of_a,
                        const Distribution& of_b) {
  const bool coin_a = !std::isnan(a.coin), coin_b = !std::isnan(b.coin);
  if (!coin_a && !coin_b) return a.id == b.id ? 0 : 1;
  const auto point = [](const pipeline::Pick& of) { return Distribution{{of.id}, {1.0}}; };
  const Distribution left = coin_a ? of_a : point(a);
  const Distribution right = coin_b ? of_b : point(b);
  if (draw_a == draw_b && draw_a == "cdf") return flip_probability_cdf(left, right);
  if (draw_a == draw_b && draw_a == "gumbel") return flip_probability_gumbel(left, right);
  return flip_probability_independent(left, right);
}

}  // namespace

Distribution Distribution::of(const plumb_candidates& candidates) {
  const Candidates sorted = Candidates::of(candidates);
  Distribution found{sorted.ids, std::vector<double>(sorted.ids.size())};
  const float largest = *std::max_element(sorted.logits.begin(), sorted.logits.end());
  double sum = 0;
  for (size_t i = 0; i < sorted.ids.size(); ++i)
    sum += found.probabilities[i] = std::exp(double{sorted.logits[i]} - largest);
  for (double& probability : found.probabilities) probability /= sum;
  return found;
}

double total_variation(const Distribution& a, const Distribution& b) {
  double sum = 0;
  for (const Pair& pair : joined(a, b)) sum += std::abs(pair.p - pair.q);
  return as_probability(sum / 2);
}

double flip_probability_cdf(const Distribution& a, const Distribution& b) {
  double same = 0, below_a = 0, below_b = 0;
  for (const Pair& pair : joined(a, b)) {
    const double begin = std::max(below_a, below_b);
    below_a += pair.p;
    below_b += pair.q;
    same += std::max(0.0, std::min(below_a, below_b) - begin);
  }
  return as_probability(1 - same);
}

double flip_probability_gumbel(const Distribution& a, const Distribution& b) {
  std::vector<Pair> pairs = joined(a, b);
  std::erase_if(pairs, [](const Pair& pair) { return pair.p == 0 && pair.q == 0; });
  // By falling p/q, so that max(p_j/p_i, q_j/q_i) is p_j/p_i for those in front of i.
  std::sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) {
    const double left = x.p / x.q, right = y.p / y.q;
    return left != right ? left > right : x.id < y.id;
  });
  double q_behind = 0;
  for (const Pair& pair : pairs) q_behind += pair.q;
  double same = 0, p_before = 0;
  for (const Pair& pair : pairs) {
    p_before += pair.p;
    q_behind -= pair.q;
    if (pair.p > 0 && pair.q > 0)
      same += 1 / (p_before / pair.p + std::max(0.0, q_behind) / pair.q);
  }
  return as_probability(1 - same);
}

double flip_probability_independent(const Distribution& a, const Distribution& b) {
  double same = 0;
  for (const Pair& pair : joined(a, b)) same += pair.p * pair.q;
  return as_probability(1 - same);
}

Result<PickErrors> compare_picks(pipeline::SamplerChain& a, pipeline::SamplerChain& b,
                                 std::span<const float> logits,
                                 const plumb_sample_context& context) {
  PLUMB_TRY(b.take_over(a));
  std::optional<Error> end_a, end_b;
  PLUMB_ASSIGN(const Picked of_a, pick(a, logits, context, end_a));
  PLUMB_ASSIGN(const Picked of_b, pick(b, logits, context, end_b));

  PickErrors errors;
  errors.step = static_cast<uint32_t>(context.step);
  errors.draw_a = last_stage(a);
  errors.draw_b = last_stage(b);
  if (end_a || end_b) {
    if (end_a && end_b && end_a->code == PLUMB_CANCELLED && end_b->code == PLUMB_CANCELLED)
      return *end_a;
    errors.end_a = end_a ? end_a->message : "";
    errors.end_b = end_b ? end_b->message : "";
    errors.id_a = of_a.pick.id;
    errors.id_b = of_b.pick.id;
    errors.n_kept_a = of_a.pick.n_kept;
    errors.n_kept_b = of_b.pick.n_kept;
    errors.verdict =
        end_a && end_b && end_a->code == end_b->code ? Verdict::kUnexplained : Verdict::kWrong;
    return errors;
  }
  errors.id_a = of_a.pick.id;
  errors.id_b = of_b.pick.id;
  if (!std::isnan(of_a.pick.coin)) errors.coin = of_a.pick.coin;
  errors.n_kept_a = of_a.pick.n_kept;
  errors.n_kept_b = of_b.pick.n_kept;
  const Distribution left_a = Distribution::of(a.candidates());
  errors.first_stage = first_unequal_stage(a, of_a.stages, b, of_b.stages);
  if (errors.first_stage.empty() && errors.draw_a == errors.draw_b && errors.id_a == errors.id_b) {
    errors.n_kept_both = static_cast<uint32_t>(
        std::ranges::count_if(left_a.probabilities, [](double p) { return p > 0; }));
    return errors;
  }
  const Distribution left_b = Distribution::of(b.candidates());
  for (const Pair& pair : joined(left_a, left_b))
    errors.n_kept_both += pair.p > 0 && pair.q > 0 ? 1 : 0;
  errors.flip_probability =
      flip_probability(errors.draw_a, errors.draw_b, of_a.pick, of_b.pick, left_a, left_b);
  errors.total_variation = total_variation(left_a, left_b);
  const bool is_rounding = errors.n_kept_a == errors.n_kept_b &&
                           errors.n_kept_b == errors.n_kept_both &&
                           errors.total_variation <= kRounding && errors.id_a == errors.id_b &&
                           errors.draw_a == errors.draw_b;
  errors.verdict = is_rounding ? Verdict::kDrift : Verdict::kWrong;
  return errors;
}

}  // namespace plumbline::diff
