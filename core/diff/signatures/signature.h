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
  std::string statement;  // what the suspect does that the other does not: one sentence, no stop
  /// What the op would put out. seen: what it did; only for a variant that rounds, to tell which of
  /// the numbers within reach it took.
  std::function<Matrix(const OpInputs& inputs, const Matrix& seen)> evaluate;
  double conditioning = 1;  // how much larger rounding errors are in it than in the op, if larger
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

/// "B " and what it does, with the op's parameters as it then has them.
Hypothesis variant(const Suspect& suspect, const std::string& does, NormParameters how);
Hypothesis variant(const Suspect& suspect, const std::string& does, RopeParameters how);
Hypothesis variant(const Suspect& suspect, const std::string& does, AttendParameters how);
Hypothesis variant(const Suspect& suspect, const std::string& does, ProductParameters how);
/// The same for anything else.
Hypothesis variant(const Suspect& suspect, const std::string& does,
                   std::function<Matrix(const OpInputs& inputs)> how);
/// A matrix read in another way, by products and by embed.
Hypothesis variant(const Suspect& suspect, const std::string& does, WeightRows how);

/// A number as statements give it: as few digits as tell it from its neighbours.
std::string text_of(double number);

}  // namespace plumbline::diff
