// signature.h: a named cause: how an op would compute if it were the one.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/diff/signatures/suspect.h"

namespace plumbline::diff {

/// One variant of the op, its parameters fitted.
struct Hypothesis {
  std::string statement;  // what the suspect does and what it should do: one sentence, no stop
  /// What the op would put out. seen: what it did; only for a variant that rounds, to tell which
  /// side of a tie it took.
  std::function<Matrix(const OpInputs& inputs, const Matrix& seen)> evaluate;
};

struct Signature {
  const char* name;  // of the cause
  std::vector<uint32_t> kinds;  // PLUMB_OP_*: of the ops that it can befall
  /// Variants for this op; none where it cannot be the cause.
  std::vector<Hypothesis> (*hypotheses)(const Suspect& suspect);
  /// Causes that do the same to some ops: where neither is refuted, both are named.
  std::vector<std::string> equivalents = {};
};

/// All of them, those that are named before their equivalents first.
const std::vector<Signature>& all_signatures();

/// A number as statements give it: as few digits as tell it from its neighbours.
std::string text_of(double number);

}  // namespace plumbline::diff
