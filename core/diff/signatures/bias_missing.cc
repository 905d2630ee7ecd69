// A product's bias is not added.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  auto how = suspect.product();
  if (how.bias.empty()) return {};
  how.bias.clear();
  return {variant(suspect, "leaves out the bias", how)};
}

}  // namespace

Signature bias_missing() {
  return {"bias_missing", {PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
