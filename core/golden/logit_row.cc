#include "core/golden/logit_row.h"

#include <algorithm>
#include <cmath>

#include "core/base/top_ids.h"

namespace plumbline::golden {

int32_t first_not_finite(std::span<const float> row) {
  const auto bad = std::ranges::find_if(row, [](float x) { return !std::isfinite(x); });
  return bad == row.end() ? -1 : static_cast<int32_t>(bad - row.begin());
}

std::vector<TopLogit> top_logits(std::span<const float> row, size_t n) {
  std::vector<TopLogit> top;
  for (const int32_t id : top_ids(row, n)) top.push_back({id, row[static_cast<size_t>(id)]});
  return top;
}

}  // namespace plumbline::golden
