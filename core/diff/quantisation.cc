#include "core/diff/quantisation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace plumbline::diff {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

template <typename Of>
double mean_of(std::span<const Scored> rows, const Of& of) {
  double sum = 0;
  for (const Scored& row : rows) sum += of(row.row);
  return sum / static_cast<double>(rows.size());
}

/// The mean of a number of each row, with both its standard errors. Rows of one chunk stand
/// together.
template <typename Of>
Estimate estimate(std::span<const Scored> rows, const Of& of) {
  const auto n = static_cast<double>(rows.size());
  Estimate result{mean_of(rows, of), kUnknown, kUnknown};
  double squares = 0, squares_of_chunks = 0, n_chunks = 0;
  for (size_t at = 0; at < rows.size();) {
    const uint32_t chunk = rows[at].chunk;
    double of_chunk = 0;
    for (; at < rows.size() && rows[at].chunk == chunk; ++at) {
      const double apart = of(rows[at].row) - result.value;
      squares += apart * apart;
      of_chunk += apart;
    }
    squares_of_chunks += of_chunk * of_chunk;
    n_chunks += 1;
  }
  if (n > 1) result.error_of_ids = std::sqrt(squares / n / (n - 1));
  if (n_chunks > 1) result.error = std::sqrt(squares_of_chunks * n_chunks / (n_chunks - 1)) / n;
  return result;
}

/// A function of a mean: its value, and the errors by its slope.
Estimate mapped(const Estimate& mean, double value, double slope) {
  return {value, std::abs(slope) * mean.error, std::abs(slope) * mean.error_of_ids};
}

Estimate exponential(const Estimate& mean) {
  const double value = std::exp(mean.value);
  return mapped(mean, value, value);
}

/// of: a side's score of a row.
template <typename Of>
SidePerplexity side_perplexity(std::span<const Scored> rows, uint64_t n_bytes, const Of& of) {
  SidePerplexity side;
  side.nll = estimate(rows, [&](const PairScore& row) { return of(row).nll; });
  side.perplexity = exponential(side.nll);
  side.bits_per_byte = n_bytes == 0 ? kUnknown
                                    : side.nll.value * static_cast<double>(rows.size()) /
                                          std::numbers::ln2 / static_cast<double>(n_bytes);
  return side;
}

/// Linear between the sorted values at share * (n - 1).
template <typename Of>
std::vector<Percentile> percentiles(std::span<const Scored> rows, std::span<const double> shares,
                                    const Of& of) {
  std::vector<double> values;
  for (const Scored& row : rows) values.push_back(of(row.row));
  std::sort(values.begin(), values.end());
  std::vector<Percentile> result;
  for (const double share : shares) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, values.size() - 1);
    const double part = place - static_cast<double>(below);
    result.push_back({share, (1 - part) * values[below] + part * values[above]});
  }
  return result;
}

double correlation_of_nll(std::span<const Scored> rows, double mean_a, double mean_b) {
  double aa = 0, bb = 0, ab = 0;
  for (const Scored& row : rows) {
    const double a = row.row.a.nll - mean_a, b = row.row.b.nll - mean_b;
    aa += a * a, bb += b * b, ab += a * b;
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : kUnknown;
}

QuantisationCost cost_of(std::span<const Scored> rows, uint64_t n_bytes, const SidePerplexity& a) {
  constexpr double kShares[] = {1,    0.999, 0.99, 0.95, 0.9,   0.75, 0.5,
                                0.25, 0.1,   0.05, 0.01, 0.001, 0};
  QuantisationCost cost;
  cost.b = side_perplexity(rows, n_bytes, [](const PairScore& row) { return row.b; });
  // Row by row, so that what the sides have in common falls out: the covariance.
  cost.ln_ratio = estimate(rows, [](const PairScore& row) { return row.b.nll - row.a.nll; });
  cost.ratio = exponential(cost.ln_ratio);
  const double ppl_a = a.perplexity.value, ppl_b = cost.b.perplexity.value;
  cost.difference = mapped(
      estimate(rows, [&](const PairScore& row) { return ppl_b * row.b.nll - ppl_a * row.a.nll; }),
      ppl_b - ppl_a, 1);
  cost.correlation = correlation_of_nll(rows, a.nll.value, cost.b.nll.value);

  const auto kl = [](const PairScore& row) { return row.kl; };
  cost.kl = estimate(rows, kl);
  cost.kl_likely = estimate(rows, [](const PairScore& row) { return row.kl_likely; });
  cost.kl_percentiles = percentiles(rows, kShares, kl);

  const auto delta_p = [](const PairScore& row) { return row.b.p - row.a.p; };
  cost.delta_p = estimate(rows, delta_p);
  const Estimate square =
      estimate(rows, [&](const PairScore& row) { return delta_p(row) * delta_p(row); });
  const double rms = std::sqrt(square.value);
  cost.delta_p_rms = mapped(square, rms, rms > 0 ? 0.5 / rms : 0);
  cost.delta_p_percentiles = percentiles(rows, kShares, delta_p);

  cost.same_top =
      estimate(rows, [](const PairScore& row) { return row.a.top == row.b.top ? 1.0 : 0.0; });
  return cost;
}

// ---- JSON

Json to_json(const Estimate& estimate) {
  return {{"value", estimate.value},
          {"error", estimate.error},
          {"error_of_ids", estimate.error_of_ids}};
}

Json to_json(const SidePerplexity& side) {
  return {{"perplexity", to_json(side.perplexity)},
          {"nll", to_json(side.nll)},
          {"bits_per_byte", side.bits_per_byte}};
}

Json to_json(const std::vector<Percentile>& percentiles) {
  Json list = Json::array();
  for (const Percentile& one : percentiles)
    list.push_back({{"share", one.share}, {"value", one.value}});
  return list;
}

}  // namespace

TextScores summarise(std::span<const Scored> rows, bool has_b, uint32_t context, uint64_t n_bytes) {
  TextScores scores;
  scores.context = context;
  scores.n_chunks = rows.back().chunk + 1;
  scores.n_ids = rows.size();
  scores.n_bytes = n_bytes;
  scores.a = side_perplexity(rows, n_bytes, [](const PairScore& row) { return row.a; });
  if (has_b) scores.cost = cost_of(rows, n_bytes, scores.a);
  return scores;
}

Json to_json(const TextScores& scores) {
  Json json{{"context", scores.context},
            {"n_chunks", scores.n_chunks},
            {"n_ids", scores.n_ids},
            {"n_bytes", scores.n_bytes},
            {"a", to_json(scores.a)}};
  if (scores.cost) {
    const QuantisationCost& cost = *scores.cost;
    json["b"] = to_json(cost.b);
    json["ln_ratio"] = to_json(cost.ln_ratio);
    json["ratio"] = to_json(cost.ratio);
    json["difference"] = to_json(cost.difference);
    json["correlation"] = cost.correlation;
    json["kl"] = to_json(cost.kl);
    json["kl_likely"] = to_json(cost.kl_likely);
    json["kl_percentiles"] = to_json(cost.kl_percentiles);
    json["delta_p"] = to_json(cost.delta_p);
    json["delta_p_rms"] = to_json(cost.delta_p_rms);
    json["delta_p_percentiles"] = to_json(cost.delta_p_percentiles);
    json["same_top"] = to_json(cost.same_top);
  }
  return json;
}

}  // namespace plumbline::diff
