// Stage 5: a long run with one seed. Our sampler stages draw with the same coins from the
// reference's logits and from ours, behind the reference's picks: so the first difference is where
// two free runs would part, and the later ones are found too.
#include <algorithm>
#include <cmath>

#include "core/diff/comparable.h"
#include "core/diff/logit_errors.h"
#include "core/golden/checks.h"
#include "core/golden/logit_row.h"
#include "core/pipeline/text_stream.h"
#include "core/protocol/stages.h"

namespace plumbline::protocol {
namespace {

constexpr uint32_t kStepsBetweenWords = 64;  // of progress

class LongRun {
 public:
  LongRun(const Context& context, diff::Side& a, diff::Side& b)
      : context_(&context),
        a_(&a),
        b_(&b),
        noise_(golden::noise_between(a.numerics(), b.numerics(), context.request.noise)) {}

  Result<golden::Finding> run(std::span<const int32_t> prompt) {
    PLUMB_ASSIGN(pipeline::SamplerChain chain_a, b_->pipeline().sampler());
    PLUMB_ASSIGN(pipeline::SamplerChain chain_b, b_->pipeline().sampler());
    PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, b_->pipeline().tokenizer());
    control_bits_ = tokenizer->control_bits(b_->hyper_parameters().n_vocab);
    prompt_ = prompt;
    PLUMB_TRY(a_->restart());
    PLUMB_TRY(b_->restart());
    std::vector<int32_t> next(prompt.begin(), prompt.end());
    for (uint32_t step = 0; step < context_->request.n_tokens && failure_.empty(); ++step) {
      if (step % kStepsBetweenWords == 0) context_->say("token " + std::to_string(step));
      const diff::ForwardRequest request{.cancel = context_->request.cancel};
      PLUMB_ASSIGN(const std::span<const float> row_a, a_->forward(next, request));
      PLUMB_ASSIGN(const std::span<const float> row_b, b_->forward(next, request));
      PLUMB_TRY(step_once(chain_a, chain_b, row_a, row_b));
      if (ids_.empty()) break;
      next.assign(1, ids_.back());
    }
    return finish(*tokenizer);
  }

 private:
  Result<void> step_once(pipeline::SamplerChain& chain_a, pipeline::SamplerChain& chain_b,
                         std::span<const float> row_a, std::span<const float> row_b) {
    for (const auto& [name, row] : {std::pair("A", row_a), {"B", row_b}}) {
      const std::string bad = golden::not_finite(row);
      if (bad.empty()) continue;
      failure_ = "step " + std::to_string(ids_.size()) + ", " + name + ": " + bad;
      return {};
    }
    const plumb_sample_context context =
        pipeline::sample_context(b_->config().config.sampling.seed, prompt_, ids_, control_bits_);
    PLUMB_ASSIGN(const pipeline::Pick pick_a, chain_a.pick(row_a, context));
    PLUMB_ASSIGN(const pipeline::Pick pick_b, chain_b.pick(row_b, context));
    diff::LogitErrors errors = diff::compare_logits(row_a, row_b);
    diff::judge(errors, noise_);
    n_bits_differ_ += errors.n_bits_differ;
    worst_ = std::max(worst_, errors.gap_change);
    diff::Verdict verdict = errors.verdict;
    if (pick_a.id != pick_b.id) {
      // Stages that see equal logits and coins pick alike: what flips without a cause is a defect.
      const bool is_explained =
          verdict == diff::Verdict::kDrift || verdict == diff::Verdict::kTieFlip;
      verdict = is_explained                       ? diff::Verdict::kTieFlip
                : verdict == diff::Verdict::kMatch ? diff::Verdict::kWrong
                                                   : verdict;
      if (n_flips_++ == 0) first_ = first_flip(pick_a, pick_b, row_a, row_b);
    } else if (verdict == diff::Verdict::kTieFlip) {
      verdict = diff::Verdict::kDrift;  // another first, and still the same pick
    }
    verdict_ = std::max(verdict_, verdict);
    ids_.push_back(pick_a.id);
    if (n_flips_ == 0) n_equal_ = ids_.size();
    return {};
  }

  std::string first_flip(const pipeline::Pick& a, const pipeline::Pick& b,
                         std::span<const float> row_a, std::span<const float> row_b) const {
    const auto logit = [&](int32_t id) { return double{row_a[static_cast<size_t>(id)]}; };
    const double gap = (logit(a.id) - logit(b.id)) / diff::sigma_of(row_a);
    std::string text = "token " + std::to_string(ids_.size()) + ": " + std::to_string(a.id) +
                       " and " + std::to_string(b.id) + ", a gap of " + golden::text_of(gap) +
                       " sigma that changed by " +
                       golden::text_of(diff::gap_change(row_a, row_b, a.id, b.id));
    if (!std::isnan(a.coin)) text += ", coin " + golden::text_of(a.coin);
    return text;
  }

  Result<golden::Finding> finish(const pipeline::Tokenizer& tokenizer) {
    if (!failure_.empty()) return golden::numeric("picks under one seed", failure_);
    const auto profile =
        pipeline::ill_formed(b_->config().config.tokenizer.ill_formed, tokenizer.info());
    PLUMB_ASSIGN(const std::string same,
                 pipeline::decode_text(tokenizer, std::span(ids_).first(n_equal_), profile));
    golden::Finding finding{.what = "picks under one seed", .n = ids_.size()};
    finding.verdict = verdict_;
    finding.statement =
        std::to_string(ids_.size()) + " tokens, seed " +
        std::to_string(b_->config().config.sampling.seed) + ": " +
        (n_flips_ == 0
             ? "the same ids and the same text of " + std::to_string(same.size()) + " bytes"
             : std::to_string(n_flips_) + " picks differ; the texts are equal for " +
                   std::to_string(same.size()) + " bytes, then " + first_) +
        "; " + (n_bits_differ_ == 0 ? "equal logit bits" : golden::noise_text(worst_, noise_));
    finding.numbers = {{"tokens", static_cast<double>(ids_.size())},
                       {"flips", static_cast<double>(n_flips_)},
                       {"equal_tokens", static_cast<double>(n_equal_)},
                       {"equal_text_bytes", static_cast<double>(same.size())},
                       {"gap_change", worst_}};
    if (noise_) finding.numbers.emplace_back("noise", *noise_);
    return finding;
  }

  const Context* context_;
  diff::Side* a_;
  diff::Side* b_;
  std::optional<double> noise_;
  std::span<const int32_t> prompt_;
  std::vector<uint64_t> control_bits_;
  std::vector<int32_t> ids_;  // the reference's picks
  size_t n_equal_ = 0;
  uint64_t n_flips_ = 0, n_bits_differ_ = 0;
  double worst_ = 0;
  diff::Verdict verdict_ = diff::Verdict::kMatch;
  std::string first_, failure_;
};

}  // namespace

Result<void> long_run(const Context& context, Stage& stage) {
  PLUMB_ASSIGN(const OpenSide ours, opened(stage, context.sides.open({})));
  stage.b = describe(*ours);
  OpenSide oracle;
  diff::Side* reference = context.sides.reference();
  if (reference == nullptr) {
    PLUMB_ASSIGN(oracle, opened(stage, context.sides.open(oracle_overrides())));
    reference = oracle.side.get();
  }
  stage.a = describe(*reference);
  PLUMB_TRY(diff::check_comparable(*reference, *ours));
  PLUMB_ASSIGN(const auto prompts, prompt_ids(context, *ours));
  if (prompts.empty()) {
    stage.why_not = "there is no prompt";
    return {};
  }
  LongRun run(context, *reference, *ours);
  PLUMB_ASSIGN(golden::Finding found, run.run(prompts.front()));
  stage.findings.push_back(std::move(found));
  return {};
}

}  // namespace plumbline::protocol
