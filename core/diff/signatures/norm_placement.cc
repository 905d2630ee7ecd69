// The op reads what a norm was given instead of what it put out: a norm in another place.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

/// The op whose output this norm reads; empty: none that is known.
std::string source_of(const std::string& norm, uint32_t n_layers) {
  if (norm == "output_norm") return std::to_string(n_layers - 1) + ".ffn_residual";
  const size_t dot = norm.find('.');
  if (dot == norm.npos) return "";
  const std::string layer = norm.substr(0, dot), op = norm.substr(dot + 1);
  if (op == "ffn_norm") return layer + ".attn_residual";
  if (op != "attn_norm") return "";
  return layer == "0" ? "embed" : std::to_string(std::stoul(layer) - 1) + ".ffn_residual";
}

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const OpEvidence& evidence = suspect.evidence();
  if (evidence.info.operands.empty() || !evidence.output_of_a) return {};
  const std::string source =
      source_of(evidence.info.operands[0].writer, suspect.hyper_parameters().n_layers);
  const Rows& x = suspect.inputs()[0];
  std::vector<Hypothesis> found;
  for (const std::string& op : {source, source == "embed" ? std::string("embed_scale") : ""}) {
    if (op.empty()) continue;
    const std::optional<Rows> bare =
        evidence.output_of_a(op, x.shape.first_position, x.shape.n_rows);
    if (!bare || bare->values.size() != x.values.size()) continue;
    found.push_back(variant(suspect, "reads " + op + ", the model says its norm",
                            [&suspect, bare](const OpInputs& inputs) {
                              OpInputs other = inputs;
                              other[0].values = bare->values;
                              return suspect.plain(other);
                            }));
  }
  return found;
}

}  // namespace

Signature norm_placement() {
  return {"norm_placement", {PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
