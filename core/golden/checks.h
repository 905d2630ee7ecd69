// checks.h: one comparison each, and what they share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/diff/noise.h"
#include "core/golden/bundle.h"
#include "core/golden/finding.h"

namespace plumbline::golden {

/// Who made a bundle's ids, if that proves nothing; empty: another program.
std::string why_ids_prove_nothing(const Bundle& bundle);

/// Four digits.
std::string text_of(double value);

/// A level of gap_change for two sides' classes: 0: equal bits are demanded; empty: not known.
std::optional<double> noise_between(const diff::NumericsClass& a, const diff::NumericsClass& b,
                                    const diff::NoiseTable* noise);

/// The verdict on numbers that differ by `change`, where a level of `noise` is expected: 0: equal
/// bits are demanded; empty: no level is known.
diff::Verdict judged(bool is_equal, double change, std::optional<double> noise, bool flips);
/// That in words.
std::string noise_text(double change, std::optional<double> noise);

/// An error that is a finding: the side's arithmetic gave no number.
Finding numeric(const std::string& what, const std::string& why);
/// Empty: all are finite numbers.
std::string not_finite(std::span<const float> row);

/// Rows of one size.
Finding check_logits(const std::string& what, std::span<const float> golden,
                     std::span<const float> row, std::optional<double> noise);
/// The ids must be inside the row; sigma: of the golden row, or of one that is near it.
Finding check_top(const std::string& what, const std::vector<TopLogit>& golden,
                  std::span<const float> row, double sigma, std::optional<double> noise);

/// Fail CORRUPT: an id is outside the vocabulary.
Result<void> check_ids(const std::string& prompt, std::span<const int32_t> ids, uint32_t n_vocab);
Result<void> check_ids(const std::string& prompt, const std::vector<TopLogit>& top,
                       uint32_t n_vocab);
/// The recorded logits of a prompt whose ids and logits are the vocabulary's. Fails as read_logits,
/// CORRUPT.
Result<std::vector<float>> golden_row(const std::string& folder, const GoldenPrompt& prompt,
                                      uint32_t n_vocab);

}  // namespace plumbline::golden
