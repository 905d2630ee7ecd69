#include "core/diff/stage_errors.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <string>

namespace plumbline::diff {
namespace {

// Ids of a side alone that a report holds.
constexpr size_t kIdsMost = 16;

std::string shown(const pipeline::SamplerChain& chain, int32_t stage) {
  if (stage < 0) return "";
  const auto index = static_cast<size_t>(stage);
  const std::string& params = chain.stage_params(index);
  return chain.stage_name(index) + (params == "{}" ? "" : " " + params);
}

// Those of `one` that `other` lacks, the first of them in `first`; how many there are.
uint32_t only_in(const Left& one, const Left& other, std::vector<int32_t>& first) {
  std::ranges::set_difference(one.ids, other.ids, std::back_inserter(first));
  const auto n = static_cast<uint32_t>(first.size());
  first.resize(std::min(first.size(), kIdsMost));
  return n;
}

}  // namespace

Left Left::of(const plumb_candidates& candidates) {
  Left left{{candidates.ids, candidates.ids + candidates.n},
            {candidates.logits, candidates.logits + candidates.n}};
  if (candidates.order == PLUMB_ORDER_ID) return left;
  std::vector<uint32_t> order(candidates.n);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](uint32_t x, uint32_t y) { return candidates.ids[x] < candidates.ids[y]; });
  for (uint32_t i = 0; i < candidates.n; ++i) {
    left.ids[i] = candidates.ids[order[i]];
    left.logits[i] = candidates.logits[order[i]];
  }
  return left;
}

Left Left::of(std::span<const float> row) {
  Left left{std::vector<int32_t>(row.size()), {row.begin(), row.end()}};
  std::iota(left.ids.begin(), left.ids.end(), 0);
  return left;
}

bool Left::operator==(const Left& other) const {
  return ids == other.ids &&
         std::equal(logits.begin(), logits.end(), other.logits.begin(), [](float x, float y) {
           return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
         });
}

std::vector<StagePair> paired_stages(const pipeline::SamplerChain& a,
                                     const pipeline::SamplerChain& b) {
  const size_t n_a = a.n_stages(), n_b = b.n_stages();
  // worth[i][j]: of the best pairing of the stages from i on with those from j on. A partner
  // outweighs any number of equal parameters.
  std::vector<std::vector<uint64_t>> worth(n_a + 1, std::vector<uint64_t>(n_b + 1));
  const uint64_t partner = n_a + n_b + 1;
  const auto worth_of_pair = [&](size_t i, size_t j) -> uint64_t {
    if (a.stage_name(i) != b.stage_name(j)) return 0;
    return partner + (a.stage_params(i) == b.stage_params(j) ? 1 : 0);
  };
  for (size_t i = n_a; i-- > 0;) {
    for (size_t j = n_b; j-- > 0;) {
      worth[i][j] = std::max(worth[i + 1][j], worth[i][j + 1]);
      if (const uint64_t pair = worth_of_pair(i, j); pair > 0)
        worth[i][j] = std::max(worth[i][j], pair + worth[i + 1][j + 1]);
    }
  }
  std::vector<StagePair> pairs;
  size_t i = 0, j = 0;
  while (i < n_a || j < n_b) {
    const uint64_t pair = i < n_a && j < n_b ? worth_of_pair(i, j) : 0;
    const bool is_pair = pair > 0 && worth[i][j] == pair + worth[i + 1][j + 1];
    const bool has_a = is_pair || (i < n_a && worth[i][j] == worth[i + 1][j]);
    const bool has_b = is_pair || !has_a;
    pairs.push_back({has_a ? static_cast<int32_t>(i) : -1, has_b ? static_cast<int32_t>(j) : -1});
    i += has_a;
    j += has_b;
  }
  return pairs;
}

std::vector<StageErrors> compare_stages(const pipeline::SamplerChain& a,
                                        const std::vector<Left>& left_a,
                                        const pipeline::SamplerChain& b,
                                        const std::vector<Left>& left_b) {
  std::vector<StageErrors> found;
  size_t i = 0, j = 0;
  for (const StagePair pair : paired_stages(a, b)) {
    i += pair.a >= 0;
    j += pair.b >= 0;
    if (i >= left_a.size() || j >= left_b.size()) break;  // one of the two failed there
    StageErrors errors{.a = shown(a, pair.a), .b = shown(b, pair.b)};
    errors.n_kept_a = static_cast<uint32_t>(left_a[i].ids.size());
    errors.n_kept_b = static_cast<uint32_t>(left_b[j].ids.size());
    errors.n_only_a = only_in(left_a[i], left_b[j], errors.only_a);
    errors.n_only_b = only_in(left_b[j], left_a[i], errors.only_b);
    errors.differs = !(left_a[i] == left_b[j]);
    found.push_back(std::move(errors));
  }
  return found;
}

}  // namespace plumbline::diff
