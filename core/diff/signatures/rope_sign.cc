// A rotation the other way: the sine's sign, or cosine and sine handed over in another order.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  auto how = suspect.rope();
  how.sign = -1;
  return {variant(suspect, "rotates the other way", how)};
}

}  // namespace

Signature rope_sign() {
  return {"rope_sign", {PLUMB_OP_ROPE}, hypotheses};
}

}  // namespace plumbline::diff::signatures
