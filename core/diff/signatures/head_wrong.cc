// Logits by another matrix: the embedding instead of an untied head or the other way round, or rows
// that belong to neighbouring ids.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  if (suspect.evidence().info.layer >= 0) return {};
  std::vector<Hypothesis> found;
  const WeightRows right = rows_of(*suspect.weight());
  for (const char* name : {"token_embd.weight", "output.weight"}) {
    const plumb_tensor* other = suspect.tensor(name);
    if (other == nullptr || name == suspect.evidence().info.weight || other->rank != 2) continue;
    if (other->dims[0] != right.n_rows || other->dims[1] != right.width) continue;
    found.push_back(variant(suspect,
                            std::string("multiplies with ") + name + ", the model says with " +
                                suspect.evidence().info.weight,
                            rows_of(*other)));
  }
  for (const uint64_t step : {uint64_t{1}, right.n_rows - 1}) {
    WeightRows shifted = right;
    shifted.read = [=](uint64_t row, float* out) { right.read((row + step) % right.n_rows, out); };
    found.push_back(variant(suspect,
                            std::string("gives each id the logit of the id ") +
                                (step == 1 ? "behind" : "before") + " it",
                            shifted));
  }
  return found;
}

}  // namespace

Signature head_wrong() {
  return {"head_wrong", {PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
