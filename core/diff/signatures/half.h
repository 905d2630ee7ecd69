// half.h: values that go through f16, where a kernel's own rounding before it is not known.
#pragma once

#include "core/diff/signatures/signature.h"

namespace plumbline::diff {

/// x rounded to f16. Where x may be off by `slack`, the number that was seen decides between those
/// that it can become.
double in_f16(double x, double slack = 0, double seen = 0);

/// The plain op, with what it puts out rounded to f16.
Hypothesis outputs_in_f16(const Suspect& suspect, const std::string& does);

}  // namespace plumbline::diff
