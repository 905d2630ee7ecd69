// The tensor of another layer: a name made with the wrong number.
#include <algorithm>

#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

bool has_shape_of(const plumb_tensor& a, const plumb_tensor& b) {
  return a.rank == b.rank && std::equal(a.dims, a.dims + a.rank, b.dims);
}

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const std::string& name = suspect.evidence().info.weight;
  const int32_t layer = suspect.evidence().info.layer;
  const std::string prefix = "blk." + std::to_string(layer) + ".";
  if (layer < 0 || !name.starts_with(prefix)) return {};
  std::vector<Hypothesis> found;
  for (uint32_t other = 0; other < suspect.hyper_parameters().n_layers; ++other) {
    if (other == static_cast<uint32_t>(layer)) continue;
    const std::string its = "blk." + std::to_string(other) + "." + name.substr(prefix.size());
    const plumb_tensor* tensor = suspect.tensor(its);
    if (tensor == nullptr || !has_shape_of(*tensor, *suspect.weight())) continue;
    const std::string does = "reads " + its + ", the model says " + name;
    if (suspect.kind() == PLUMB_OP_MATMUL) {
      found.push_back(variant(suspect, does, rows_of(*tensor)));
    } else {
      NormParameters how = suspect.norm();
      how.weight = values_of(rows_of(*tensor));
      found.push_back(variant(suspect, does, how));
    }
  }
  return found;
}

}  // namespace

Signature weight_of_another_layer() {
  return {"weight_of_another_layer", {PLUMB_OP_RMS_NORM, PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
