#include "core/golden/logit_row.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace plumbline::golden {

int32_t first_not_finite(std::span<const float> row) {
  const auto bad = std::ranges::find_if(row, [](float x) { return !std::isfinite(x); });
  return bad == row.end() ? -1 : static_cast<int32_t>(bad - row.begin());
}

std::vector<TopLogit> top_logits(std::span<const float> row, size_t n) {
  std::vector<int32_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  n = std::min(n, order.size());
  const auto before = [&](int32_t x, int32_t y) {
    const float lx = row[static_cast<size_t>(x)], ly = row[static_cast<size_t>(y)];
    return lx != ly ? lx > ly : x < y;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(),
                    before);
  std::vector<TopLogit> top;
  for (size_t i = 0; i < n; ++i) top.push_back({order[i], row[static_cast<size_t>(order[i])]});
  return top;
}

double sigma_of(std::span<const float> row) {
  double sum = 0, squares = 0;
  for (const float x : row) sum += x;
  const double mean = sum / static_cast<double>(row.size());
  for (const float x : row) squares += (x - mean) * (x - mean);
  return std::sqrt(squares / static_cast<double>(row.size()));
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

double mean_absolute(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(double{a[i]} - double{b[i]});
  return sum / static_cast<double>(a.size());
}

}  // namespace plumbline::golden
