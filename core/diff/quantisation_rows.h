// quantisation_rows.h: what rows of logits say of the id that came next, and how far two rows lie
// apart: the loops that a quantisation report spends its time in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/thread_pool.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// One side's row.
struct RowScore {
  double nll = 0;  // -ln p of the id that came next
  double p = 0;
  int32_t top = -1;  // the likeliest id; of equals the first
};

/// Two rows of one position.
struct PairScore {
  RowScore a, b;
  double kl = 0;  // sum over all ids of p_a (ln p_a - ln p_b), nats
  double kl_likely = 0;  // of it, ids with ln p_a > -16: llama-perplexity's sum
};

/// In double precision, and the same on every machine. Not for two threads at once.
class RowScorer {
 public:
  /// logits: f32[V], V >= 1; id: in [0,V). Nothing where the numbers are not finite.
  std::optional<RowScore> score(std::span<const float> logits, int32_t id);
  /// Rows of equal width.
  std::optional<PairScore> score_pair(std::span<const float> a, std::span<const float> b,
                                      int32_t id);

 private:
  struct Softmax;
  std::optional<Softmax> softmax(std::span<const float> logits);

  std::vector<double> weights_;  // of the last row: e^(logit - the largest)
  std::vector<double> terms_;  // scratch of its width
};

struct Scored {
  uint32_t chunk = 0;  // rows of one chunk are no independent samples
  PairScore row;  // with one side: a alone
};

/// Many rows, by the threads of a pool.
class RowsScorer {
 public:
  explicit RowsScorer(ThreadPool& pool) : pool_(&pool), scorers_(pool.n_threads()) {}

  /// a, b: f32[n,V]; b empty: a alone. next: the n ids that came next. Appends to scored. Fails
  /// NUMERIC (which row, from 0 on), INCOMPATIBLE (rows of other widths, an id without a logit).
  Result<void> score(std::span<const float> a, std::span<const float> b,
                     std::span<const int32_t> next, uint32_t chunk, std::vector<Scored>& scored);

 private:
  ThreadPool* pool_;
  std::vector<RowScorer> scorers_;  // one for each thread
};

}  // namespace plumbline::diff
