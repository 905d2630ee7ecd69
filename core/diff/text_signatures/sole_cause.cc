#include "core/diff/text_signatures/trial.h"

namespace plumbline::diff {
namespace {

/// Signatures that can have the same effect on all inputs: declared, not found. The first name is
/// the one that is given.
constexpr std::pair<const char*, const char*> kEquivalents[] = {
    // What passes a truncation is a change of order.
    {"temperature_before_truncation", "stage_order_changed"},
    {"temperature_behind_truncation", "stage_order_changed"},
    {"penalty_before_truncation", "stage_order_changed"},
    {"penalty_behind_truncation", "stage_order_changed"},
    // Rules that are words of a parameter.
    {"control_tokens_spared", "parameter_changed"},
    {"control_tokens_penalised", "parameter_changed"},
    {"prompt_counted", "parameter_changed"},
    {"prompt_not_counted", "parameter_changed"},
    {"repetition_normalised", "parameter_changed"},
    {"repetition_by_sign", "parameter_changed"},
    {"top_k_cuts_ties", "parameter_changed"},
    {"top_k_keeps_ties", "parameter_changed"},
    // A generator that is seeded at each pick throws its first coin again and again.
    {"coin_reused", "state_lost"},
    // Behind both, Metaspace marks each word once.
    {"white_space_collapsed", "pre_tokenizer_wrong"},
    // No token has the whole of the stop text in it.
    {"stop_text_kept", "stop_missed_across_tokens"},
    // Where an open answer is rendered like an ended one.
    {"generation_prompt_missing", "last_turn_closed"},
    // A truncation whose parameter lets all pass is as good as none.
    {"parameter_changed", "stage_missing"},
    // Nor does a wrong threshold behind another truncation cut, where that leaves little.
    {"stage_missing", "min_p_on_logits"},
    {"stage_missing", "min_p_absolute"},
};

bool are_equivalent(const std::string& one, const std::string& other) {
  return std::ranges::any_of(kEquivalents, [&](const auto& pair) {
    return (one == pair.first && other == pair.second) ||
           (one == pair.second && other == pair.first);
  });
}

bool comes_before(const std::string& one, const std::string& other) {
  return std::ranges::any_of(
      kEquivalents, [&](const auto& pair) { return one == pair.first && other == pair.second; });
}

}  // namespace

std::optional<Cause> sole_cause(const std::vector<Proof>& proofs, double plain) {
  if (proofs.empty()) return std::nullopt;
  const auto named = std::ranges::find_if(proofs, [&](const Proof& proof) {
    return std::ranges::none_of(
        proofs, [&](const Proof& other) { return comes_before(other.signature, proof.signature); });
  });
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
