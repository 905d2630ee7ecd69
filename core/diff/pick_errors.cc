#include "core/diff/pick_errors.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace plumbline::diff {
namespace {

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
  std::vector<Left> left;  // in front of all stages, then behind each
};

// end: why there was no pick; then the rest is what there is.
Result<Picked> pick(pipeline::SamplerChain& chain, std::span<const float> logits,
                    const plumb_sample_context& context, std::optional<Error>& end) {
  Picked picked;
  picked.left.push_back(Left::of(logits));
  auto made = chain.pick(logits, context, [&](size_t, const plumb_candidates& left) {
    picked.left.push_back(Left::of(left));
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

// "top_k {"k":2} / none": of the first behind which candidates differ.
std::string first_unequal(const std::vector<StageErrors>& stages) {
  const auto found = std::ranges::find(stages, true, &StageErrors::differs);
  if (found == stages.end()) return "";
  const auto or_none = [](const std::string& stage) { return stage.empty() ? "none" : stage; };
  return found->a == found->b ? found->a : or_none(found->a) + " / " + or_none(found->b);
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

Distribution Distribution::of(const Left& left) {
  Distribution found{left.ids, std::vector<double>(left.ids.size())};
  const float largest = *std::max_element(left.logits.begin(), left.logits.end());
  double sum = 0;
  for (size_t i = 0; i < left.ids.size(); ++i)
    sum += found.probabilities[i] = std::exp(double{left.logits[i]} - largest);
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
  errors.stages = compare_stages(a, of_a.left, b, of_b.left);
  errors.first_stage = first_unequal(errors.stages);
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
  if (!std::isnan(of_b.pick.coin)) errors.coin_b = of_b.pick.coin;
  errors.n_kept_a = of_a.pick.n_kept;
  errors.n_kept_b = of_b.pick.n_kept;
  const Distribution left_a = Distribution::of(Left::of(a.candidates()));
  if (errors.first_stage.empty() && errors.draw_a == errors.draw_b && errors.id_a == errors.id_b) {
    errors.n_kept_both = static_cast<uint32_t>(
        std::ranges::count_if(left_a.probabilities, [](double p) { return p > 0; }));
    return errors;
  }
  const Distribution left_b = Distribution::of(Left::of(b.candidates()));
  for (const Pair& pair : joined(left_a, left_b))
    errors.n_kept_both += pair.p > 0 && pair.q > 0 ? 1 : 0;
  errors.flip_probability =
      flip_probability(errors.draw_a, errors.draw_b, of_a.pick, of_b.pick, left_a, left_b);
  errors.total_variation = total_variation(left_a, left_b);
  const bool is_rounding = errors.n_kept_a == errors.n_kept_b &&
                           errors.n_kept_b == errors.n_kept_both &&
                           errors.total_variation <= kDrawRounding && errors.id_a == errors.id_b &&
                           errors.draw_a == errors.draw_b;
  errors.verdict = is_rounding ? Verdict::kDrift : Verdict::kWrong;
  return errors;
}

}  // namespace plumbline::diff
