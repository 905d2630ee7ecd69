// Rows of the embedding are those of neighbouring ids.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const auto V = static_cast<int64_t>(suspect.weight()->dims[0]);
  std::vector<Hypothesis> found;
  for (const int64_t step : {int64_t{1}, int64_t{-1}}) {
    found.push_back(
        variant(suspect, std::string("embeds the id ") + (step > 0 ? "behind" : "before") + " each",
                [=, &suspect](const OpInputs& inputs) {
                  std::vector<int32_t> ids = integers_of(inputs[0]);
                  for (int32_t& id : ids) id = static_cast<int32_t>((id + step + V) % V);
                  return embed(ids, rows_of(*suspect.weight()));
                }));
  }
  return found;
}

}  // namespace

Signature embedding_row_off_by_one() {
  return {"embedding_row_off_by_one", {PLUMB_OP_EMBED}, hypotheses};
}

}  // namespace plumbline::diff::signatures
