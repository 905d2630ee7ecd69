// allowance.h: what a file's rules may do to one text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "plumb/sdk/result.h"
#include "plumb/sdk/tokenizer/encoder.h"
#include "plumb/sdk/tokenizer/mapped_text.h"

namespace plumbline::tokenizers::hf {

/// Few rules can double a text often, and one regular expression can search it for ever. All that
/// is done to one text, or at load to all tokens, has one allowance: so many bytes of growth and
/// so many steps of searching, for each byte that was there. The rules of public files need a small
/// part of it.
class Allowance {
 public:
  Allowance() = default;
  /// failure: of what grows too much.
  Allowance(uint64_t n_bytes, plumb_status failure)
      : growth_(kFreeGrowth + kGrowthPerByte * n_bytes),
        steps_(kFreeSteps + kStepsPerByte * n_bytes),
        failure_(failure) {}

  /// How large a text of n_bytes may become.
  uint64_t most_bytes(uint64_t n_bytes) const {
    return std::max(n_bytes, std::min(n_bytes + growth_, tokenizer::kLongestTextBytes));
  }
  /// A text has become another.
  Result<void> take_growth(uint64_t n_before, uint64_t n_after) {
    if (n_after > most_bytes(n_before)) return too_long(n_before);
    growth_ -= std::max(n_before, n_after) - n_before;
    return {};
  }
  /// A text of n_before bytes has been written anew into a storage limited to most_bytes.
  Result<void> take_growth(uint64_t n_before, const tokenizer::MappedText& storage) {
    if (storage.is_cut_short()) return too_long(n_before);
    return take_growth(n_before, storage.view().text().size());
  }
  Error too_long(uint64_t n_bytes) const {
    return {failure_, "the vocabulary's rules make a text of " + std::to_string(n_bytes) +
                          " bytes longer than the " + std::to_string(most_bytes(n_bytes)) +
                          " that are left to it"};
  }

  /// False, and nothing is taken, if there are not so many left.
  bool take_steps(uint64_t n) {
    if (steps_ < n) return false;
    steps_ -= n;
    return true;
  }

 private:
  static constexpr uint64_t kFreeGrowth = uint64_t{1} << 20;
  static constexpr uint64_t kGrowthPerByte = 64;  // NFKD alone makes 33 bytes of 3
  static constexpr uint64_t kFreeSteps = 10'000'000;  // Oniguruma's own limit for one match
  static constexpr uint64_t kStepsPerByte = 256;

  uint64_t growth_ = 0;
  uint64_t steps_ = 0;
  plumb_status failure_ = PLUMB_INTERNAL;
};

}  // namespace plumbline::tokenizers::hf
