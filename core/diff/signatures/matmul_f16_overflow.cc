// Products that are kept in f16: 11 bits, and infinite from 65520 on.
#include "core/diff/signatures/half.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  return {outputs_in_f16(suspect, "keeps products in f16")};
}

}  // namespace

Signature matmul_f16_overflow() {
  return {"matmul_f16_overflow", {PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
