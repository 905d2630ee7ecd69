// stages.h: the six stages, and what they share. Each adds its findings to a stage that has its
// number and title. Where one cannot run at all, the stage says why.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/diff/logit_errors.h"
#include "core/protocol/protocol.h"

namespace plumbline::protocol {

struct Context {
  const Request& request;
  SideMaker& sides;

  void say(const std::string& what) const {
    if (request.on_progress) request.on_progress(what);
  }
};

/// This build, or this model, has none such. Asked only of errors of opening something: the same
/// codes later on are failures.
inline bool is_not_to_be_had(const Error& error) {
  return error.code == PLUMB_NOT_FOUND || error.code == PLUMB_UNSUPPORTED;
}

/// What a stage opens to run on. Where it is not to be had, the stage says so.
template <typename T>
Result<T> opened(Stage& stage, Result<T> part) {
  if (!part && is_not_to_be_had(part.error())) stage.why_not = part.error().message;
  return part;
}

Result<void> token_ids(const Context& context, Stage& stage);
Result<void> first_step_logits(const Context& context, Stage& stage);
Result<void> native_and_wasm(const Context& context, Stage& stage);
Result<void> weight_formats(const Context& context, Stage& stage);
Result<void> long_run(const Context& context, Stage& stage);
Result<void> three_turns(const Context& context, Stage& stage);

/// "plumb.cpu.avx2, canonical-1, f32 activations", or "transformers 5.24.0".
std::string describe(const diff::Side& side);

/// Makes a config's own oracle of it: the reference backend.
std::vector<std::string> oracle_overrides();

/// Ids of the request's prompts by a side's own tokenizer.
Result<std::vector<std::vector<int32_t>>> prompt_ids(const Context& context, diff::Side& side);
/// The logits behind all of the ids, in one prefill of a fresh session.
Result<std::vector<float>> last_row(diff::Side& side, std::span<const int32_t> ids,
                                    const std::atomic<bool>* cancel);

/// How far the rows of a kept KV cache are from those of a fresh prefill.
struct CacheErrors {
  uint64_t n_differ = 0;  // values, bit for bit
  double worst_row = 0;  // the largest error of a row, relative to its size; infinite: no number
};
CacheErrors compare_cache(std::span<const float> kept, std::span<const float> fresh,
                          uint32_t width);
/// Of picks that part, behind rows and logits with this verdict: stages that see equal logits and
/// coins pick alike, so what parts without a cause is a defect.
diff::Verdict verdict_of_parting(diff::Verdict before);

/// The errors of several rows as one finding.
class LogitTally {
 public:
  /// noise: as for diff::judge.
  LogitTally(std::string what, std::optional<double> noise);

  void add(std::span<const float> a, std::span<const float> b);
  /// The word that stands before the numbers for each verdict but MATCH; empty: none.
  golden::Finding finish(const std::string& within = "", const std::string& beyond = "") &&;

 private:
  std::optional<double> noise_;
  golden::Finding finding_;
  uint64_t n_rows_ = 0, n_bits_differ_ = 0, n_same_first_ = 0, n_same_top5_ = 0;
  double cosine_sum_ = 0, cosine_lowest_ = 1, mean_absolute_ = 0, kl_ = 0, gap_change_ = 0;
  std::string failure_;
};

}  // namespace plumbline::protocol
