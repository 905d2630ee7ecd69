// The head reads the row before the one that is asked for.
#include <algorithm>

#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const model::OpInfo& info = suspect.evidence().info;
  if (info.name != "output_norm" || info.operands.empty()) return {};
  const auto rows_before = [&](const std::vector<float>& first_row) {
    return [&suspect, first_row](const OpInputs& inputs) {
      OpInputs shifted = inputs;
      std::vector<float>& values = shifted[0].values;
      const auto width = static_cast<std::ptrdiff_t>(first_row.size());
      std::copy_backward(values.begin(), values.end() - width, values.end());
      std::copy(first_row.begin(), first_row.end(), values.begin());
      return suspect.plain(shifted);
    };
  };
  const char* does = "norms the row before each";
  std::vector<Hypothesis> found;
  const Rows& x = suspect.inputs()[0];
  if (x.shape.first_position > 0 && suspect.evidence().output_of_a) {
    const auto before =
        suspect.evidence().output_of_a(info.operands[0].writer, x.shape.first_position - 1, 1);
    if (before && before->values.size() == x.shape.width)
      found.push_back(variant(suspect, does, rows_before(before->values)));
  }
  // The first row has none before it.
  if (x.shape.n_rows > 1) {
    found.push_back(variant(suspect, does, [&suspect, rows_before](const OpInputs& inputs) {
      const std::vector<float>& values = inputs[0].values;
      return rows_before({values.begin(), values.begin() + inputs[0].shape.width})(inputs);
    }));
  }
  return found;
}

}  // namespace

Signature logits_row_off_by_one() {
  return {"logits_row_off_by_one", {PLUMB_OP_RMS_NORM}, hypotheses};
}

}  // namespace plumbline::diff::signatures
