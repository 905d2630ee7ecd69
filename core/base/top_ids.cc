#include "core/base/top_ids.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace plumbline {

bool comes_before(std::span<const float> logits, int32_t id, int32_t other) {
  const float one = logits[static_cast<size_t>(id)], two = logits[static_cast<size_t>(other)];
  if (std::isnan(one) != std::isnan(two)) return std::isnan(two);
  if (std::isnan(one) || one == two) return id < other;
  return one > two;
}

std::vector<int32_t> top_ids(std::span<const float> logits, size_t n) {
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(n, order.size()));
  std::partial_sort(order.begin(), end, order.end(),
                    [&](int32_t a, int32_t b) { return comes_before(logits, a, b); });
  order.erase(end, order.end());
  return order;
}

}  // namespace plumbline
