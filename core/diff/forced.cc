#include "core/diff/forced.h"

#include <algorithm>
#include <memory>
#include <set>

#include "core/diff/explain.h"
#include "core/diff/explain_text.h"
#include "core/diff/in_step.h"
#include "core/diff/logit_errors.h"
#include "core/diff/memory.h"
#include "core/diff/pick_errors.h"
#include "core/diff/text_doors.h"
#include "core/diff/verdicts.h"

namespace plumbline::diff {
namespace {

// One prompt in work.
class Forced {
 public:
  Forced(Side& a, Side& b, const PreparedPrompt& prompt, const DiffRequest& request,
         const Progress& say, PromptReport& report)
      : a_(a), b_(b), prompt_(prompt), request_(request), say_(say), report_(report) {}

  Result<bool> run() {
    // Where every bit must be equal, B on A's inputs does what B does on its own, until one is not.
    const bool may_be_one = promises_equal(a_, b_);
    PLUMB_TRY(run_in_step(!may_be_one));
    if (may_be_one && differs()) {
      PromptReport first = forget();
      PLUMB_TRY(run_in_step(true));
      if (!differs()) keep(std::move(first));
    }
    if (!with_other_bits_.empty()) {
      report_.notes.push_back(
          with_other_bits_ +
          ": logits are others where the ops run as lists, as in a run that nobody watches: "
          "nothing that was compared op by op is sure");
      report_.verdict = worse(report_.verdict, Verdict::kUnexplained);
    }
    explain_moved();
    PLUMB_TRY(explain());
    judge_logits();
    PLUMB_TRY(compare_text());
    add_cause(report_, pick_cause_);
    if (!report_.cause)
      add_cause(report_, explain_shown(a_, b_, picked_, request_.show_b, report_));
    return goes_on_;
  }

 private:
  Result<void> run_in_step(bool runs_freely);
  Result<void> check_room(uint64_t n_ids) const;
  uint64_t n_ids() const;
  uint64_t n_recordable() const;
  bool differs() const;
  PromptReport forget();
  void keep(PromptReport first);
  Result<void> begin_picks();
  Result<bool> pick(std::span<const float> logits);
  void count_ops(const OpComparison& comparison);
  void explain_moved();
  Result<void> explain();
  void judge_logits();
  Result<void> compare_text();

  Side& a_;
  Side& b_;
  const PreparedPrompt& prompt_;
  const DiffRequest& request_;
  const Progress& say_;
  PromptReport& report_;
  trace::Recording of_a_;
  std::vector<int32_t> picked_;
  size_t n_fed_ = 0;  // of them, that were run as well
  bool goes_on_ = false;  // A's answer, behind what was picked
  bool is_repeatable_ = true;
  std::string with_other_bits_;  // as InStep tells
  std::optional<InStep::MovedCause> moved_cause_;
  std::optional<pipeline::SamplerChain> chain_a_, chain_b_;
  std::optional<Cause> pick_cause_;  // of the first pick for which one was proved
  std::vector<uint64_t> control_bits_;
};

Result<void> Forced::run_in_step(bool runs_freely) {
  say_(runs_freely ? "A, B on A's inputs, and B on its own" : "A, and B on A's inputs");
  PLUMB_TRY(begin_picks());
  PLUMB_ASSIGN(const std::unique_ptr<InStep> runs,
               InStep::begin(a_, b_, {runs_freely, request_.all_rows, request_.cancel}));
  if (!runs->is_in_step()) PLUMB_TRY(check_room(n_ids()));
  OpComparison comparison(a_, b_, runs_freely, b_.pipeline().threads(), request_.noise);
  const auto on_logits = [&](uint32_t position, std::span<const float> of_a,
                             std::span<const float> of_b) {
    LogitErrors errors = compare_logits(of_a, of_b);
    errors.position = position;
    report_.logits.push_back(std::move(errors));
  };
  std::span<const int32_t> ids = prompt_.encoding_a.ids;
  while (true) {
    PLUMB_TRY(runs->forward(ids, comparison, on_logits));
    if (runs->logits_of_a().empty()) break;
    PLUMB_ASSIGN(const bool goes_on, pick(runs->logits_of_a()));
    if (!goes_on) break;
    ids = std::span(picked_).last(1);
    ++n_fed_;
  }
  report_.failure_a = runs->failure_of_a();
  report_.failure_b = runs->failure_of_b();
  report_.ops = comparison.finish();
  count_ops(comparison);
  PLUMB_ASSIGN(with_other_bits_, runs->with_other_bits_in_lists());
  of_a_ = std::move(runs->recording());
  moved_cause_ = runs->moved_cause();
  return {};
}

// The last token that is picked is not run.
uint64_t Forced::n_ids() const {
  return uint64_t{prompt_.encoding_a.ids.size()} + std::max(request_.n_steps, 1u) - 1;
}

// Ids of a stream that a recording can hold: behind an eviction, rows stand where others stood.
uint64_t Forced::n_recordable() const {
  const model::Decoder& decoder = *b_.decoder();
  return decoder.sequence().window().evicts() ? decoder.capacity_rows() : UINT64_MAX;
}

// For a recording of A.
Result<void> Forced::check_room(uint64_t n_ids) const {
  if (n_ids > n_recordable()) {
    return Error{PLUMB_UNSUPPORTED,
                 std::to_string(n_ids) + " ids in a context that evicts and has " +
                     std::to_string(n_recordable()) +
                     " rows: A would have to be recorded, and recorded rows cannot move; take a "
                     "larger context.length, or chained mode"};
  }
  const uint64_t n_head_rows = request_.all_rows ? n_ids : uint64_t{1} + request_.n_steps;
  return check_memory(recording_bytes(*b_.decoder(), n_ids, n_head_rows), n_ids,
                      request_.bytes_max != 0 ? request_.bytes_max : default_bytes_max());
}

bool Forced::differs() const {
  return !report_.failure_a.empty() || !report_.failure_b.empty() ||
         std::ranges::any_of(report_.ops, [](const OpErrors& op) { return op.n_bits_differ > 0; });
}

// What was found: the report is as it was before the run.
PromptReport Forced::forget() {
  PromptReport found;
  std::swap(found.ops, report_.ops);
  std::swap(found.logits, report_.logits);
  std::swap(found.picks, report_.picks);
  std::swap(found.failure_a, report_.failure_a);
  std::swap(found.failure_b, report_.failure_b);
  picked_.clear();
  n_fed_ = 0;
  pick_cause_.reset();
  return found;
}

// Nothing differs any more, but equal bits were promised of every run.
void Forced::keep(PromptReport first) {
  report_.ops = std::move(first.ops);
  report_.failure_a = std::move(first.failure_a);
  report_.failure_b = std::move(first.failure_b);
  report_.notes.emplace_back(
      "what differs here did so in the first of two runs, and not in the second: A or B is not "
      "repeatable");
  is_repeatable_ = false;
}

Result<void> Forced::begin_picks() {
  PLUMB_ASSIGN(pipeline::SamplerChain chain_a, a_.pipeline().sampler());
  PLUMB_ASSIGN(pipeline::SamplerChain chain_b, b_.pipeline().sampler());
  chain_a_.emplace(std::move(chain_a));
  chain_b_.emplace(std::move(chain_b));
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, a_.pipeline().tokenizer());
  control_bits_ = tokenizer->control_bits(a_.hyper_parameters().n_vocab);
  return {};
}

// True: one was made that is to be run as well.
Result<bool> Forced::pick(std::span<const float> logits) {
  if (picked_.size() >= request_.n_steps) return false;
  goes_on_ = false;
  const plumb_sample_context context =
      pipeline::sample_context(request_.seed, prompt_.encoding_a.ids, picked_, control_bits_);
  PLUMB_ASSIGN(const std::vector<char> state, chain_a_->state());
  auto errors = compare_picks(*chain_a_, *chain_b_, logits, context);
  if (!errors && errors.error().code == PLUMB_CANCELLED) return false;  // both scripts are over
  if (!errors) return std::move(errors).error();
  const bool is_worst = std::ranges::all_of(
      report_.picks, [&](const PickErrors& one) { return one.verdict < errors->verdict; });
  if (errors->verdict != Verdict::kMatch && is_worst && !pick_cause_) {
    pick_cause_ = explain_pick(a_, b_, logits, context, state, *errors);
    if (pick_cause_) errors->verdict = Verdict::kWrong;
  }
  report_.picks.push_back(*errors);
  if (!errors->end_a.empty() || !errors->end_b.empty()) return false;
  const int32_t id = errors->id_a;
  picked_.push_back(id);
  PLUMB_ASSIGN(const ShownText shown, show_ids(a_.pipeline(), picked_));
  goes_on_ = !shown.end;
  return goes_on_ && picked_.size() < request_.n_steps;
}

void Forced::count_ops(const OpComparison& comparison) {
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
}

// Keys are turned between two forwards: no op can be asked why.
void Forced::explain_moved() {
  if (!moved_cause_) return;
  for (Difference& one : differences(report_)) {
    if (one.place.op != moved_cause_->op) continue;
    moved_cause_->cause.place = std::move(one.place);
    add_cause(report_, moved_cause_->cause);
    return;
  }
}

Result<void> Forced::explain() {
  const bool has_questions =
      std::ranges::any_of(report_.ops, [](const OpErrors& op) { return op.n_bits_differ > 0; });
  if (!has_questions || !is_repeatable_) return {};
  // Of a run that evicts, what was in front of that.
  const uint64_t n_prompt = prompt_.encoding_a.ids.size();
  const uint64_t n_replayed = std::min<uint64_t>(n_prompt + n_fed_, n_recordable());
  if (const auto room = check_room(std::max(n_prompt, n_replayed)); !room) {
    report_.notes.push_back("why ops differ was not asked: " + room.error().message);
    return {};
  }
  const Replay replay{prompt_.encoding_a.ids, std::span(picked_).first(n_replayed - n_prompt),
                      request_.all_rows, &of_a_, request_.cancel};
  return explain_ops(a_, b_, replay, say_, report_);
}

void Forced::judge_logits() {
  // Equal bits are demanded of the whole where they are of every part.
  const bool demands_equal =
      !report_.ops.empty() && report_.n_ops_only_a + report_.n_ops_only_b == 0 &&
      std::all_of(report_.ops.begin(), report_.ops.end(),
                  [](const OpErrors& op) { return op.budget && *op.budget == 0; });
  const LogitNoise noise = logit_noise(request_.noise, a_.numerics(), b_.numerics(), demands_equal);
  const auto tokenizer = a_.pipeline().tokenizer();
  const auto n_prompt = static_cast<uint32_t>(prompt_.encoding_a.ids.size());
  for (LogitErrors& errors : report_.logits) {
    errors.step = errors.position + 1 - std::min(errors.position + 1, n_prompt);
    judge(errors, noise.gap, noise.row);
    if (tokenizer) add_pieces(errors, **tokenizer);
  }
}

Result<void> Forced::compare_text() {
  PLUMB_ASSIGN(ShownDoors doors,
               compare_shown(a_.pipeline(), b_.pipeline(), picked_, picked_, request_.show_b));
  report_.exact.push_back(std::move(doors.bytes));
  report_.exact.push_back(std::move(doors.text));
  report_.text_a = std::move(doors.a.text);
  report_.text_b = std::move(doors.b.text);
  return {};
}

}  // namespace

Result<bool> compare_forced(Side& a, Side& b, const PreparedPrompt& prompt,
                            const DiffRequest& request, const Progress& say, PromptReport& report) {
  return Forced(a, b, prompt, request, say, report).run();
}

}  // namespace plumbline::diff
