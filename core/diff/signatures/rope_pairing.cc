// Which two values of a head turn together: a model of the one kind read as the other.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  auto how = suspect.rope();
  const bool is_half = how.pairing == PLUMB_ROPE_HALF;
  how.pairing = is_half ? PLUMB_ROPE_INTERLEAVED : PLUMB_ROPE_HALF;
  const std::string adjacent = "neighbours (2i, 2i + 1)", halves = "halves (i, i + n/2)";
  return {variant(suspect,
                  "rotates " + (is_half ? adjacent : halves) + ", the model says " +
                      (is_half ? halves : adjacent),
                  how)};
}

}  // namespace

Signature rope_pairing() {
  return {"rope_pairing", {PLUMB_OP_ROPE}, hypotheses};
}

}  // namespace plumbline::diff::signatures
