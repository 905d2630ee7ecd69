// nucleus.h: the candidates that come first in some order, until they have enough of the mass.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "candidates.h"

namespace plumbline::samplers::core {

/// A candidate's place in the order: by distance, of equal ones as they lie, which is by id.
struct Near {
  double distance;
  uint32_t place;

  bool operator<(const Near& other) const {
    return distance < other.distance || (distance == other.distance && place < other.place);
  }
};

struct NucleusRule {
  double wanted = 0;  // mass
  bool wants_more = false;  // than that, not at least that
  uint64_t min_keep = 1;
  bool keeps_ties = false;  // those as far as the last stay

  bool is_enough(double sum, uint64_t n) const {
    return (wants_more ? sum > wanted : sum >= wanted) && n >= min_keep;
  }
};

/// Distances are sorted into bins of this width, so that only the bin in which the sum gets there
/// is sorted candidate by candidate.
class Nucleus {
 public:
  static constexpr uint64_t scratch_bytes(uint32_t n_vocab) {
    return sizeof(Bin) * kBins + n_vocab * (sizeof(double) + sizeof(Near));
  }

  Nucleus(void* scratch, uint32_t n_vocab)
      : bins_(static_cast<Bin*>(scratch)),
        weights_(reinterpret_cast<double*>(bins_ + kBins)),
        near_(reinterpret_cast<Near*>(weights_ + n_vocab)) {}

  /// Room for the weights of all candidates, which keep needs.
  double* weights() { return weights_; }

  /// Keeps the first of the candidates, which lie in id order, as the rule says; all where their
  /// mass is not enough. distance(logit): not negative; infinity is allowed. The mass is summed bin
  /// by bin, each in id order, and in the last along the sorted candidates.
  template <typename Measure>
  void keep(plumb_candidates& candidates, Measure distance, const NucleusRule& rule);

 private:
  struct Bin {
    double mass;
    uint32_t n;
  };
  static constexpr uint32_t kBins = 4096;
  static constexpr double kBinsPerNat = 64;  // 64 nats; what is further has no mass to speak of

  static uint32_t bin_of(double distance) {
    return static_cast<uint32_t>(std::min(distance * kBinsPerNat, kBins - 1.0));
  }

  Bin* bins_;
  double* weights_;
  Near* near_;
};

template <typename Measure>
void Nucleus::keep(plumb_candidates& candidates, Measure distance, const NucleusRule& rule) {
  std::fill_n(bins_, kBins, Bin{0, 0});
  for (uint32_t i = 0; i < candidates.n; ++i) {
    Bin& bin = bins_[bin_of(distance(candidates.logits[i]))];
    bin.mass += weights_[i];
    ++bin.n;
  }
  double sum = 0;
  uint64_t n_taken = 0;
  for (uint32_t b = 0; b < kBins; ++b) {
    if (rule.is_enough(sum + bins_[b].mass, n_taken + bins_[b].n)) {
      uint32_t n = 0;
      for (uint32_t i = 0; i < candidates.n; ++i) {
        const double here = distance(candidates.logits[i]);
        if (bin_of(here) == b) near_[n++] = {here, i};
      }
      std::sort(near_, near_ + n);
      double within = sum;
      for (uint32_t i = 0; i < n; ++i) {
        within += weights_[near_[i].place];
        if (!rule.is_enough(within, n_taken + i + 1)) continue;
        const Near last = near_[i];
        uint32_t place = 0;
        keep_if(candidates, [&](float logit, int32_t) {
          const Near here{distance(logit), place++};
          return rule.keeps_ties ? here.distance <= last.distance : !(last < here);
        });
        return;
      }
    }
    sum += bins_[b].mass;
    n_taken += bins_[b].n;
  }
}

}  // namespace plumbline::samplers::core
