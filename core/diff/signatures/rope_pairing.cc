// Which two values of a head turn together: a model of the one kind read as the other.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  RopeParameters how = suspect.rope();
  const bool is_half = how.pairing == PLUMB_ROPE_HALF;
  how.pairing = is_half ? PLUMB_ROPE_INTERLEAVED : PLUMB_ROPE_HALF;
  const char* adjacent = "neighbours (2i, 2i + 1)";
  const char* halves = "halves (i, i + n/2)";
  return {{std::string(suspect.name()) + " rotates " + (is_half ? adjacent : halves) +
               ", the model says " + (is_half ? halves : adjacent),
           [=, &suspect](const OpInputs& inputs, const Matrix&) {
             return suspect.rotated(inputs, how);
           }}};
}

}  // namespace

Signature rope_pairing() {
  return {"rope_pairing", {PLUMB_OP_ROPE}, hypotheses};
}

}  // namespace plumbline::diff::signatures
