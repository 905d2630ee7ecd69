// random.h: a seeded source of choices. The same on every machine and with every library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plumbline::fuzz {

/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014
/// (SplitMix64).
class Random {
 public:
  Random(uint64_t seed, uint64_t stream)
      : state_(seed * 0x9E3779B97F4A7C15u ^ stream * 0xD1B54A32D192ED03u) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In [0, n). n is not 0.
  size_t below(size_t n) { return static_cast<size_t>(next() % n); }
  /// In [low, high].
  size_t between(size_t low, size_t high) { return low + below(high - low + 1); }
  bool one_in(size_t n) { return below(n) == 0; }

  template <typename Container>
  const auto& of(const Container& container) {
    return container[below(std::size(container))];
  }

 private:
  uint64_t state_;
};

}  // namespace plumbline::fuzz
