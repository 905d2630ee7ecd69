// candidates.h: the order of candidates, and what keeps some of them. Nothing here allocates.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "plumb/ext/sampler.h"

namespace plumbline::samplers::core {

/// The place of a candidate in the order "logit descending, then id ascending": the larger key
/// comes first, and no two candidates have the same. -0 counts as +0.
constexpr uint64_t rank_key(float logit, int32_t id) {
  const auto bits = std::bit_cast<uint32_t>(logit == 0 ? 0.0f : logit);
  const uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  return uint64_t{ordered} << 32 | ~static_cast<uint32_t>(id);
}

constexpr int32_t id_of(uint64_t key) {
  return static_cast<int32_t>(~static_cast<uint32_t>(key));
}

constexpr float logit_of(uint64_t key) {
  const auto ordered = static_cast<uint32_t>(key >> 32);
  return std::bit_cast<float>((ordered >> 31) != 0 ? ordered & 0x7fffffffu : ~ordered);
}

/// Says whether a candidate is at or before a place in that order; mostly by one comparison of
/// floats.
struct AtOrBefore {
  uint64_t key = 0;
  float logit = -std::numeric_limits<float>::infinity();

  AtOrBefore() = default;  // all are
  explicit AtOrBefore(uint64_t last) : key(last), logit(logit_of(last)) {}
  bool operator()(float candidate, int32_t id) const {
    return candidate > logit || (candidate == logit && rank_key(candidate, id) >= key);
  }
};

/// The index of the first candidate by rank_key.
/// Fails NUMERIC: a NaN, an infinite logit, or minus infinity everywhere: there is no distribution.
plumb_status find_best(const plumb_candidates& candidates, uint32_t* index, plumb_error* error);

/// Writes the keys of the m best candidates to buffer, in no order, and returns how many there are:
/// min(m, n). buffer: room for min(2 m, n). O(n) for any m.
size_t select_best(const plumb_candidates& candidates, size_t m, uint64_t* buffer);

/// Keeps the candidates for which keep(logit, id) holds, in the order in which they lie. All are
/// written, kept or not, so that there is no branch for a processor to mispredict.
template <typename Keep>
void keep_if(plumb_candidates& candidates, Keep keep) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < candidates.n; ++i) {
    const float logit = candidates.logits[i];
    const int32_t id = candidates.ids[i];
    candidates.logits[n] = logit;
    candidates.ids[n] = id;
    n += keep(logit, id) ? 1 : 0;
  }
  candidates.n = n;
}

/// Bytes of the buffer in which the m best of a vocabulary are selected.
constexpr uint64_t key_bytes(uint64_t m, uint32_t n_vocab) {
  return std::min<uint64_t>(2 * m, n_vocab) * sizeof(uint64_t);
}

/// Keeps exactly the m best. buffer: room for min(2 m, n).
void keep_best(plumb_candidates& candidates, size_t m, uint64_t* buffer);

/// Puts the candidates in id order. buffer: room for n.
void order_by_id(plumb_candidates& candidates, uint64_t* buffer);

/// A changed logit as f32. A finite one stays finite, so that no reweighing alone can empty a row
/// or make an infinite logit; minus infinity stays.
inline float finite_logit(double logit) {
  if (logit > std::numeric_limits<float>::max()) return std::numeric_limits<float>::max();
  if (logit < std::numeric_limits<float>::lowest() &&
      logit != -std::numeric_limits<double>::infinity())
    return std::numeric_limits<float>::lowest();
  return static_cast<float>(logit);
}

}  // namespace plumbline::samplers::core
