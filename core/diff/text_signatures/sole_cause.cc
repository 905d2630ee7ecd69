#include "core/diff/text_signatures/trial.h"

namespace plumbline::diff {
namespace {

/// Signatures that can have the same effect on all inputs: declared, not found. The first name is
/// the one that is given.
constexpr std::pair<const char*, const char*> kEquivalents[] = {
    // Moving a temperature in front of what truncates is a change of order.
    {"temperature_before_truncation", "stage_order_changed"},
    // Behind both, Metaspace marks each word once.
    {"white_space_collapsed", "pre_tokenizer_wrong"},
    // Where an open answer is rendered like an ended one.
    {"generation_prompt_missing", "last_turn_closed"},
    // A truncation whose parameter lets all pass is as good as none.
    {"parameter_changed", "stage_missing"},
};

bool are_equivalent(const std::string& one, const std::string& other) {
  return std::ranges::any_of(kEquivalents, [&](const auto& pair) {
    return (one == pair.first && other == pair.second) ||
           (one == pair.second && other == pair.first);
  });
}

bool comes_first(const std::string& one) {
  return std::ranges::any_of(kEquivalents, [&](const auto& pair) { return one == pair.first; });
}

}  // namespace

std::optional<Cause> sole_cause(const std::vector<Proof>& proofs, double plain) {
  if (proofs.empty()) return std::nullopt;
  const auto named =
      std::ranges::find_if(proofs, [](const Proof& proof) { return comes_first(proof.signature); });
  const Proof& chosen = named == proofs.end() ? proofs.front() : *named;
  Cause cause{.signature = chosen.signature,
              .statement = chosen.statement,
              .reproduces_b = 0,
              .plain = plain,
              .also = {}};
  for (const Proof& proof : proofs) {
    if (proof.signature == chosen.signature || std::ranges::count(cause.also, proof.signature) > 0)
      continue;
    if (!are_equivalent(proof.signature, chosen.signature)) return std::nullopt;
    cause.also.push_back(proof.signature);
  }
  return cause;
}

}  // namespace plumbline::diff
