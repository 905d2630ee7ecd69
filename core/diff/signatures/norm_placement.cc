// The op reads what a norm was given instead of what it put out: a norm in another place.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

/// The op whose output the norm reads that wrote the first operand; empty: none that is known.
std::string source_of(const model::OpInfo& info, uint32_t n_layers) {
  const std::string& norm = info.operands[0].writer;
  if (norm == "output_norm") return std::to_string(n_layers - 1) + ".ffn_residual";
  const std::string layer = std::to_string(info.layer) + ".";
  if (norm == layer + "ffn_norm") return layer + "attn_residual";
  if (norm != layer + "attn_norm") return "";
  return info.layer == 0 ? "embed" : std::to_string(info.layer - 1) + ".ffn_residual";
}

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const OpEvidence& evidence = suspect.evidence();
  if (evidence.info.operands.empty() || !evidence.output_of_a) return {};
  const std::string source = source_of(evidence.info, suspect.hyper_parameters().n_layers);
  const Rows& x = suspect.inputs()[0];
  std::vector<Hypothesis> found;
  for (const std::string& op : {source, source == "embed" ? std::string("embed_scale") : ""}) {
    if (op.empty()) continue;
    std::optional<Rows> bare = evidence.output_of_a(op, x.shape.first_position, x.shape.n_rows);
    if (!bare || bare->values.size() != x.values.size()) continue;
    found.push_back(variant(suspect, "reads " + op + ", the model says its norm",
                            [&suspect, other = suspect.narrowed({*std::move(bare)})](
                                const OpInputs&) { return suspect.plain(other); }));
  }
  return found;
}

}  // namespace

Signature norm_placement() {
  return {"norm_placement", {PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
