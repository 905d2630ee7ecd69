// Values that are kept in f16 where nothing says so: 11 bits, and infinite from 65520 on. Of
// products it is matmul_f16_overflow; what a cache is kept in is a choice, and no cause.
#include "core/diff/signatures/half.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  return {outputs_in_f16(suspect, "keeps what it puts out in f16")};
}

}  // namespace

Signature half_precision_output() {
  return {"half_precision_output",
          {PLUMB_OP_EMBED, PLUMB_OP_RMS_NORM, PLUMB_OP_ROPE, PLUMB_OP_ATTEND, PLUMB_OP_ACTIVATE,
           PLUMB_OP_ADD, PLUMB_OP_SCALE, PLUMB_OP_SOFTCAP},
          hypotheses};
}

}  // namespace plumbline::diff::signatures
