// Query heads share key and value heads in turn instead of in groups.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  auto how = suspect.attention();
  if (how.n_heads_kv < 2 || how.n_heads_kv == how.n_heads) return {};
  how.kv_head = [n = how.n_heads_kv](uint32_t head) { return head % n; };
  return {
      variant(suspect, "lets query head h read kv head h % K, the model says h / (H / K)", how)};
}

}  // namespace

Signature gqa_head_mapping() {
  return {"gqa_head_mapping", {PLUMB_OP_ATTEND}, hypotheses};
}

}  // namespace plumbline::diff::signatures
