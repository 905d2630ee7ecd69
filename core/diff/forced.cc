#include "core/diff/forced.h"

#include <algorithm>
#include <set>

#include "core/diff/explain.h"
#include "core/diff/explain_text.h"
#include "core/diff/logit_errors.h"
#include "core/diff/op_comparison.h"
#include "core/diff/pick_errors.h"
#include "core/diff/text_doors.h"
#include "core/diff/verdicts.h"

namespace plumbline::diff {
namespace {

// Logits of one pass: a row for each position that was asked for.
struct LogitRows {
  uint32_t first_position = 0;
  std::vector<std::vector<float>> rows;

  /// logits: f32[n_rows,V].
  void add(std::span<const float> logits, size_t n_rows) {
    const size_t n_vocab = logits.size() / n_rows;
    for (size_t row = 0; row < n_rows; ++row) {
      const auto of_row = logits.subspan(row * n_vocab, n_vocab);
      rows.emplace_back(of_row.begin(), of_row.end());
    }
  }
};

// One prompt in work.
class Forced {
 public:
  Forced(Side& a, Side& b, const PreparedPrompt& prompt, const DiffRequest& request,
         const Progress& say, PromptReport& report)
      : a_(a), b_(b), prompt_(prompt), request_(request), say_(say), report_(report) {}

  Result<void> run() {
    PLUMB_TRY(run_a());
    PLUMB_TRY(run_b_freely());
    PLUMB_TRY(run_b_on_a());
    judge_logits();
    PLUMB_TRY(compare_text());
    add_cause(report_, pick_cause_);
    if (!report_.cause) add_cause(report_, explain_shown(a_, b_, picked_, report_));
    return {};
  }

 private:
  Result<void> run_a();
  Result<bool> pick(std::span<const float> logits);
  Result<void> run_b_freely();
  Result<void> run_b_on_a();
  Result<void> explain();
  void judge_logits();
  Result<void> compare_text();

  // Runs a side over A's ids: the prompt, then each generated id but the last. A NUMERIC error
  // ends the run and is told in *failure.
  template <typename Step>
  Result<void> feed(Side& side, const ForwardRequest& wanted, std::string* failure,
                    const Step& on_logits);

  // Generated ids that were run, not only picked.
  size_t n_fed() const { return picked_.empty() ? 0 : picked_.size() - 1; }

  Side& a_;
  Side& b_;
  const PreparedPrompt& prompt_;
  const DiffRequest& request_;
  const Progress& say_;
  PromptReport& report_;
  trace::Recording of_a_, of_b_;
  LogitRows logits_a_, logits_b_;
  std::vector<int32_t> picked_;
  std::optional<pipeline::SamplerChain> chain_a_, chain_b_;
  std::optional<Cause> pick_cause_;  // of the first pick that is WRONG
  std::vector<uint64_t> control_bits_;
};

template <typename Step>
Result<void> Forced::feed(Side& side, const ForwardRequest& wanted, std::string* failure,
                          const Step& on_logits) {
  PLUMB_TRY(side.restart());
  const size_t n_vocab = side.hyper_parameters().n_vocab;
  std::span<const int32_t> ids = prompt_.encoding_a.ids;
  for (size_t step = 0;; ++step) {
    auto logits = side.forward(ids, wanted);
    if (!logits && logits.error().code == PLUMB_NUMERIC) {
      *failure = logits.error().message;
      return {};
    }
    if (!logits) return std::move(logits).error();
    PLUMB_ASSIGN(const bool goes_on, on_logits(*logits, logits->size() / n_vocab));
    if (!goes_on || step >= picked_.size()) return {};
    ids = std::span(picked_).subspan(step, 1);
  }
}

Result<bool> Forced::pick(std::span<const float> logits) {
  if (picked_.size() >= request_.n_steps) return false;
  const plumb_sample_context context =
      pipeline::sample_context(request_.seed, prompt_.encoding_a.ids, picked_, control_bits_);
  auto errors = compare_picks(*chain_a_, *chain_b_, logits, context);
  if (!errors && errors.error().code == PLUMB_CANCELLED) return false;  // both scripts are over
  if (!errors) return std::move(errors).error();
  const bool is_first_wrong = errors->verdict == Verdict::kWrong &&
                              std::ranges::find(report_.picks, Verdict::kWrong,
                                                &PickErrors::verdict) == report_.picks.end();
  report_.picks.push_back(*errors);
  if (!errors->end_a.empty() || !errors->end_b.empty()) return false;
  if (is_first_wrong) pick_cause_ = explain_pick(a_, b_, logits, context, *errors);
  const int32_t id = errors->id_a;
  picked_.push_back(id);
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, a_.pipeline().tokenizer());
  return (tokenizer->attributes(id) & PLUMB_TOKEN_END) == 0 && picked_.size() < request_.n_steps;
}

Result<void> Forced::run_a() {
  say_("A");
  PLUMB_ASSIGN(pipeline::SamplerChain chain_a, a_.pipeline().sampler());
  PLUMB_ASSIGN(pipeline::SamplerChain chain_b, b_.pipeline().sampler());
  chain_a_.emplace(std::move(chain_a));
  chain_b_.emplace(std::move(chain_b));
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, a_.pipeline().tokenizer());
  control_bits_ = tokenizer->control_bits(a_.hyper_parameters().n_vocab);
  const ForwardRequest wanted{&of_a_, request_.all_rows, request_.cancel};
  const auto n_prompt = static_cast<uint32_t>(prompt_.encoding_a.ids.size());
  logits_a_.first_position = request_.all_rows ? 0 : n_prompt - 1;
  return feed(a_, wanted, &report_.failure_a,
              [&](std::span<const float> logits, size_t n_rows) -> Result<bool> {
                logits_a_.add(logits, n_rows);
                return pick(logits_a_.rows.back());
              });
}

Result<void> Forced::run_b_freely() {
  say_("B on its own");
  const ForwardRequest wanted{&of_b_, request_.all_rows, request_.cancel};
  logits_b_.first_position = logits_a_.first_position;
  return feed(b_, wanted, &report_.failure_b,
              [&](std::span<const float> logits, size_t n_rows) -> Result<bool> {
                logits_b_.add(logits, n_rows);
                // Where A failed, B is asked whether it fails there as well.
                return logits_b_.rows.size() < logits_a_.rows.size() || !report_.failure_a.empty();
              });
}

Result<void> Forced::run_b_on_a() {
  say_("B on A's inputs");
  OpComparison comparison(a_, b_, of_a_, &of_b_, b_.pipeline().threads(), request_.noise);
  std::string failure;
  size_t n_rows_seen = 0;
  const ForwardRequest wanted{nullptr, request_.all_rows, request_.cancel, &comparison};
  const auto done =
      feed(b_, wanted, &failure, [&](std::span<const float>, size_t n_rows) -> Result<bool> {
        n_rows_seen += n_rows;
        return n_rows_seen < logits_a_.rows.size();
      });
  PLUMB_TRY(done);
  if (report_.failure_b.empty()) report_.failure_b = failure;
  report_.ops = comparison.finish();
  PLUMB_TRY(explain());
  const std::set<std::string> ops_a(a_.op_names().begin(), a_.op_names().end());
  const std::set<std::string> ops_b(b_.op_names().begin(), b_.op_names().end());
  const std::set<std::string>& without_rows = comparison.ops_without_rows();
  report_.n_ops_only_a = static_cast<uint32_t>(
      std::ranges::count_if(ops_a, [&](const std::string& op) { return !ops_b.contains(op); }));
  report_.n_ops_only_b =
      static_cast<uint32_t>(std::ranges::count_if(ops_b, [&](const std::string& op) {
        return !ops_a.contains(op) || without_rows.contains(op);
      }));
  report_.n_rows_not_compared = comparison.n_rows_not_compared();
  return {};
}

Result<void> Forced::explain() {
  const Replay replay{prompt_.encoding_a.ids, std::span(picked_).first(n_fed()), request_.all_rows,
                      &of_a_, request_.cancel};
  return explain_ops(a_, b_, replay, say_, report_);
}

void Forced::judge_logits() {
  // Equal bits are demanded of the whole where they are of every part.
  const bool demands_equal =
      !report_.ops.empty() && report_.n_ops_only_a + report_.n_ops_only_b == 0 &&
      std::all_of(report_.ops.begin(), report_.ops.end(),
                  [](const OpErrors& op) { return op.budget && *op.budget == 0; });
  const std::optional<double> noise = demands_equal ? std::optional<double>(0)
                                      : request_.noise == nullptr
                                          ? std::nullopt
                                          : request_.noise->gap_noise(a_.numerics(), b_.numerics());
  const std::optional<double> row_noise =
      request_.noise == nullptr ? std::nullopt
                                : request_.noise->row_noise(a_.numerics(), b_.numerics());
  const auto tokenizer = a_.pipeline().tokenizer();
  const auto n_prompt = static_cast<uint32_t>(prompt_.encoding_a.ids.size());
  for (size_t row = 0; row < std::min(logits_a_.rows.size(), logits_b_.rows.size()); ++row) {
    LogitErrors errors = compare_logits(logits_a_.rows[row], logits_b_.rows[row]);
    errors.position = logits_a_.first_position + static_cast<uint32_t>(row);
    errors.step = errors.position + 1 - std::min(errors.position + 1, n_prompt);
    judge(errors, noise, row_noise);
    if (tokenizer) add_pieces(errors, **tokenizer);
    report_.logits.push_back(std::move(errors));
  }
}

Result<void> Forced::compare_text() {
  PLUMB_ASSIGN(ShownDoors doors, compare_shown(a_.pipeline(), b_.pipeline(), picked_, picked_));
  report_.exact.push_back(std::move(doors.bytes));
  report_.exact.push_back(std::move(doors.text));
  report_.text_a = std::move(doors.a.text);
  report_.text_b = std::move(doors.b.text);
  return {};
}

}  // namespace

Result<void> compare_forced(Side& a, Side& b, const PreparedPrompt& prompt,
                            const DiffRequest& request, const Progress& say, PromptReport& report) {
  return Forced(a, b, prompt, request, say, report).run();
}

}  // namespace plumbline::diff
