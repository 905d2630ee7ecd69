#include "candidates.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "plumb/sdk/abi.h"

namespace plumbline::samplers::core {

plumb_status find_best(const plumb_candidates& candidates, uint32_t* index, plumb_error* error) {
  *index = 0;
  float best = -INFINITY;
  for (uint32_t i = 0; i < candidates.n; ++i) {
    const float logit = candidates.logits[i];
    if (!(logit < INFINITY)) {
      return failf(error, PLUMB_NUMERIC,
                   "logit of id %d is %g, expected a number or minus infinity", candidates.ids[i],
                   static_cast<double>(logit));
    }
    if (logit < best) continue;
    if (logit == best && candidates.ids[i] > candidates.ids[*index]) continue;
    best = logit;
    *index = i;
  }
  if (std::isinf(best)) {
    return failf(error, PLUMB_NUMERIC,
                 "all %u logits are minus infinity, expected at least one number", candidates.n);
  }
  return PLUMB_OK;
}

size_t select_best(const plumb_candidates& candidates, size_t m, uint64_t* buffer) {
  // The buffer fills with keys above the m-th best so far; when it is full, its better half stays.
  const size_t capacity = std::min<size_t>(2 * m, candidates.n);
  size_t n = 0;
  AtOrBefore in_reach;
  const auto shrink = [&] {
    if (n <= m) return;
    std::nth_element(buffer, buffer + (m - 1), buffer + n, std::greater<>());
    in_reach = AtOrBefore(buffer[m - 1]);
    n = m;
  };
  for (uint32_t i = 0; i < candidates.n; ++i) {
    const float logit = candidates.logits[i];
    const int32_t id = candidates.ids[i];
    if (!in_reach(logit, id)) continue;
    if (n == capacity) {
      shrink();
      if (!in_reach(logit, id)) continue;
    }
    buffer[n++] = rank_key(logit, id);
  }
  shrink();
  return n;
}

void keep_best(plumb_candidates& candidates, size_t m, uint64_t* buffer) {
  if (m >= candidates.n) return;
  const size_t n = select_best(candidates, m, buffer);
  keep_if(candidates, AtOrBefore(*std::min_element(buffer, buffer + n)));
}

void order_by_id(plumb_candidates& candidates, uint64_t* buffer) {
  for (uint32_t i = 0; i < candidates.n; ++i) {
    buffer[i] = uint64_t{static_cast<uint32_t>(candidates.ids[i])} << 32 |
                std::bit_cast<uint32_t>(candidates.logits[i]);
  }
  std::sort(buffer, buffer + candidates.n);
  for (uint32_t i = 0; i < candidates.n; ++i) {
    candidates.ids[i] = static_cast<int32_t>(buffer[i] >> 32);
    candidates.logits[i] = std::bit_cast<float>(static_cast<uint32_t>(buffer[i]));
  }
  candidates.order = PLUMB_ORDER_ID;
}

}  // namespace plumbline::samplers::core
