// Scores are scaled by another number that somebody could have meant.
#include <cmath>

#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const AttendParameters right = suspect.attention();
  const double C = right.head_width, D = C * right.n_heads;
  const double model_width = suspect.hyper_parameters().d_model;
  std::vector<Hypothesis> found;
  for (const double scale :
       {1 / std::sqrt(C), 1 / C, 1 / std::sqrt(D), 1 / std::sqrt(model_width),
        1 / std::sqrt(model_width / right.n_heads), 1 / std::sqrt(C * right.n_heads_kv),
        right.scale / std::sqrt(C), right.scale * std::sqrt(2.0), right.scale / std::sqrt(2.0),
        right.scale * 2, right.scale / 2, right.scale * right.scale}) {
    AttendParameters how = right;
    how.scale = scale;
    found.push_back(variant(
        suspect,
        "scales the scores by " + text_of(scale) + ", the model says by " + text_of(right.scale),
        how));
  }
  return found;
}

}  // namespace

Signature attention_scale_wrong() {
  return {"attention_scale_wrong", {PLUMB_OP_ATTEND}, hypotheses, {"attention_scale_missing"}};
}

}  // namespace plumbline::diff::signatures
