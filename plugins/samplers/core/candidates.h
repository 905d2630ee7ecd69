// candidates.h: the arithmetic that stages share. Nothing here allocates.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "plumb/ext/sampler.h"
#include "plumb/sdk/math.h"

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

/// e^(logit - largest), in f64: the mass of a candidate, to a common factor.
constexpr double weight(float logit, float largest) {
  return math::exp(static_cast<double>(logit) - static_cast<double>(largest));
}

/// The index of the first candidate by rank_key.
/// Fails NUMERIC: a NaN, an infinite logit, or minus infinity everywhere: there is no distribution.
plumb_status find_best(const plumb_candidates& candidates, uint32_t* index, plumb_error* error);

/// Sum of the weights, in the order in which the candidates lie.
double total_weight(const plumb_candidates& candidates, float largest);

/// Writes the m first of the n keys to buffer, in no order, and returns how many there are:
/// min(m, n). No two keys are equal; last: not before any. buffer: room for min(2 m, n). O(n) for
/// any m.
template <typename Key, typename KeyAt, typename Before>
size_t select_first(uint32_t n, size_t m, Key* buffer, Key last, KeyAt key_at, Before before) {
  // The buffer fills with keys that may be among the first; when it is full, its better half stays.
  const size_t capacity = std::min<size_t>(2 * m, n);
  size_t n_kept = 0;
  const auto shrink = [&] {
    if (n_kept <= m) return;
    std::nth_element(buffer, buffer + (m - 1), buffer + n_kept, before);
    last = buffer[m - 1];
    n_kept = m;
  };
  for (uint32_t i = 0; i < n; ++i) {
    const Key key = key_at(i);
    if (before(last, key)) continue;
    if (n_kept == capacity) {
      shrink();
      if (before(last, key)) continue;
    }
    buffer[n_kept++] = key;
  }
  shrink();
  return n_kept;
}

/// Writes the keys of the m best candidates to buffer, in no order, and returns how many there are:
/// min(m, n). buffer: room for min(2 m, n).
size_t select_best(const plumb_candidates& candidates, size_t m, uint64_t* buffer);

/// Keeps the candidates for which keep(logit, id) holds, in the order in which they lie.
template <typename Keep>
void keep_if(plumb_candidates& candidates, Keep keep) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < candidates.n; ++i) {
    const float logit = candidates.logits[i];
    const int32_t id = candidates.ids[i];
    if (!keep(logit, id)) continue;
    candidates.logits[n] = logit;
    candidates.ids[n] = id;
    ++n;
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

/// Inverse CDF: picks the first candidate, as they lie, whose cumulative mass exceeds coin times
/// the total. coin: in [0, 1). sums: room for n.
void draw_by_mass(plumb_candidates& candidates, float largest, double coin, double* sums);

/// The mass of a row as a distribution: probability p of a logit z is e^(z - largest) / total, so
/// -ln p = ln_total - (z - largest).
struct Distribution {
  double largest = 0;
  double total = 0;
  double ln_total = 0;

  /// In the order in which the candidates lie. largest: as find_best tells.
  static Distribution of(const plumb_candidates& candidates, float largest);
  /// -ln p; infinite for minus infinity.
  double surprise(float logit) const { return ln_total - (static_cast<double>(logit) - largest); }
};

/// Sum of -p ln p, summed in the order in which the candidates lie.
double entropy(const plumb_candidates& candidates, const Distribution& distribution);

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
