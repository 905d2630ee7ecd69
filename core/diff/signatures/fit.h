// fit.h: parameters that are measured on the suspect, as the numbers that somebody wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/diff/signatures/suspect.h"

namespace plumbline::diff {

/// The estimate rounded to 1, 2, ... 6 decimal digits, roundest first, where that is within
/// `uncertainty` of it (relative), then itself.
std::vector<double> likely_numbers(double estimate, double uncertainty);

/// How the suspect's rotation differs from the plain op's, measured: for row t and pair i.
struct Turns {
  std::vector<int32_t> positions;  // of the rows
  size_t n_pairs = 0;
  std::vector<double> by;  // [rows,pairs]: radians, -pi..pi, beside the plain angle

  double at(size_t row, size_t pair) const { return by[row * n_pairs + pair]; }
};
/// On A's inputs, in the plain op's pairing.
Turns measured_turns(const Suspect& suspect);
/// With each row at that position; nothing if the suspect cannot be run, or not so far out.
std::optional<Turns> measured_turns_at(const Suspect& suspect, int32_t position);

/// What may be added to positions to give the measured turns: each number that one of the rows
/// speaks for, other than 0.
std::vector<int64_t> offsets_of(const Suspect& suspect);

}  // namespace plumbline::diff
