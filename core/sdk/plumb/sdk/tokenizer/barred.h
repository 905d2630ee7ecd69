// barred.h: ids that a word may not become.
#pragma once

#include <cstdint>

namespace plumbline::tokenizer {

class Barred {
 public:
  /// bits: bit i % 64 of word i / 64 is id i; null: nothing is barred.
  explicit Barred(const uint64_t* bits = nullptr) : bits_(bits) {}
  bool has(int32_t id) const {
    return bits_ != nullptr && id >= 0 && (bits_[id / 64] >> (id % 64) & 1) != 0;
  }

 private:
  const uint64_t* bits_;
};

}  // namespace plumbline::tokenizer
