// quantisation.h: what a quantisation costs, over a text: perplexities, KL divergence, changes of
// probability, each with its uncertainty. core/doc/quantisation.md tells what each number means.
//
// The text is cut into chunks of n ids, each read into an empty cache; rows n/2 to n-2 of a chunk
// are scored, row i against id i+1.
// Source  the formulas of llama.cpp's llama-perplexity: core/doc/comparison.md, "Formulas of task
// 4".
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "core/diff/quantisation_rows.h"

namespace plumbline::diff {

/// A number and two standard errors.
struct Estimate {
  double value = 0;
  /// Chunks count as independent, what is inside one does not; NaN with fewer than two.
  double error = 0;
  /// Every id counts as independent, as in llama-perplexity; NaN with fewer than two.
  double error_of_ids = 0;
};

struct SidePerplexity {
  Estimate perplexity;
  Estimate nll;  // nats an id
  double bits_per_byte = 0;
};

/// Values below which a share of the rows lies.
struct Percentile {
  double share = 0;  // 0.999; 0 and 1: the smallest and the largest
  double value = 0;
};

/// B against A.
struct QuantisationCost {
  SidePerplexity b;
  Estimate ln_ratio;  // ln(PPL B / PPL A)
  Estimate ratio;
  Estimate difference;  // PPL B - PPL A
  double correlation = 0;  // of the two sides' nll
  Estimate kl, kl_likely;  // PairScore
  std::vector<Percentile> kl_percentiles;
  Estimate delta_p;  // p_b - p_a of the id that came next
  Estimate delta_p_rms;
  std::vector<Percentile> delta_p_percentiles;
  Estimate same_top;  // share of rows
};

struct TextScores {
  uint32_t context = 0;
  uint32_t n_chunks = 0;
  uint64_t n_ids = 0;  // scored
  uint64_t n_bytes = 0;  // of those
  SidePerplexity a;
  std::optional<QuantisationCost> cost;  // with two sides
};

/// rows: at least one. n_bytes: what the scored ids stand for.
TextScores summarise(std::span<const Scored> rows, bool has_b, uint32_t context, uint64_t n_bytes);

/// Uncertainties that are not known are null.
nlohmann::ordered_json to_json(const TextScores& scores);

}  // namespace plumbline::diff
