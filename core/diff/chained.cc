#include "core/diff/chained.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/diff/explain_text.h"
#include "core/diff/logit_errors.h"
#include "core/diff/onset_hints.h"
#include "core/diff/pick_errors.h"
#include "core/diff/text_doors.h"
#include "core/diff/verdicts.h"

namespace plumbline::diff {
namespace {

// One side that generates, a token at a time.
class Generator {
 public:
  /// show: what its user sees.
  static Result<Generator> begin(Side& side, const std::vector<int32_t>& prompt_ids,
                                 const DiffRequest& request, const Shower& show) {
    PLUMB_ASSIGN(pipeline::SamplerChain chain, side.pipeline().sampler());
    PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, side.pipeline().tokenizer());
    PLUMB_TRY(side.restart());
    Generator made(side, prompt_ids, request, std::move(chain));
    made.show_ = show;
    made.control_bits_ = tokenizer->control_bits(side.hyper_parameters().n_vocab);
    return made;
  }

  bool has_ended() const { return has_ended_; }
  /// Its last id ended the answer.
  bool has_ended_answer() const { return shown_.end.has_value(); }
  const ShownText& shown() const { return shown_; }
  const std::vector<int32_t>& picked() const { return picked_; }
  const std::string& failure() const { return failure_; }
  /// Of the last step; empty where it made none.
  std::span<const float> logits() const { return logits_; }
  pipeline::SamplerChain& chain() { return chain_; }
  plumb_sample_context context_of_step(size_t step) const {
    return pipeline::sample_context(request_->seed, *prompt_ids_, std::span(picked_).first(step),
                                    control_bits_);
  }

  /// One forward, and one pick if any is wanted; nothing if it has ended.
  Result<void> step() {
    logits_ = {};
    if (has_ended_) return {};
    const std::span<const int32_t> ids =
        picked_.empty() ? std::span<const int32_t>(*prompt_ids_) : std::span(picked_).last(1);
    auto logits = side_->forward(ids, {.cancel = request_->cancel});
    if (!logits) return ended_by(std::move(logits).error());
    logits_ = *logits;
    has_ended_ = picked_.size() >= request_->n_steps;
    if (has_ended_) return {};
    auto pick = chain_.pick(logits_, context_of_step(picked_.size()));
    if (!pick && pick.error().code == PLUMB_CANCELLED) {
      has_ended_ = true;  // a script is over
      return {};
    }
    if (!pick) return ended_by(std::move(pick).error());
    picked_.push_back(pick->id);
    PLUMB_ASSIGN(shown_, show_(side_->pipeline(), picked_));
    has_ended_ = has_ended_answer() || picked_.size() >= request_->n_steps;
    return {};
  }

 private:
  Generator(Side& side, const std::vector<int32_t>& prompt_ids, const DiffRequest& request,
            pipeline::SamplerChain chain)
      : side_(&side), prompt_ids_(&prompt_ids), request_(&request), chain_(std::move(chain)) {}

  Result<void> ended_by(Error error) {
    if (error.code != PLUMB_NUMERIC) return error;
    failure_ = error.message;
    has_ended_ = true;
    return {};
  }

  Side* side_;
  const std::vector<int32_t>* prompt_ids_;
  const DiffRequest* request_;
  pipeline::SamplerChain chain_;
  Shower show_;
  ShownText shown_;  // of all that was picked
  std::vector<uint64_t> control_bits_;
  std::vector<int32_t> picked_;
  std::span<const float> logits_;
  bool has_ended_ = false;
  std::string failure_;
};

std::string shown_pick(Side& side, const std::vector<int32_t>& picked, size_t step) {
  if (step >= picked.size()) return "no token: it has ended";
  std::string shown = "id " + std::to_string(picked[step]);
  if (const auto tokenizer = side.pipeline().tokenizer()) {
    if (const auto piece = (*tokenizer)->piece(picked[step], false)) shown += " " + quoted(*piece);
  }
  return shown;
}

ExactDoor pick_door(Side& a, Side& b, const Generator& of_a, const Generator& of_b) {
  if (of_a.picked().empty() && of_b.picked().empty())
    return not_compared(Door::kPick, "no token was generated");
  ExactDoor door;
  door.door = Door::kPick;
  door.is_compared = true;
  door.size_a = of_a.picked().size();
  door.size_b = of_b.picked().size();
  const auto [in_a, in_b] = std::mismatch(of_a.picked().begin(), of_a.picked().end(),
                                          of_b.picked().begin(), of_b.picked().end());
  const bool is_end_a = in_a == of_a.picked().end(), is_end_b = in_b == of_b.picked().end();
  if (is_end_a && is_end_b) return door;
  // One goes on behind what ended the other's answer: doors 50 and 60 have that.
  if ((is_end_a && of_a.has_ended_answer()) || (is_end_b && of_b.has_ended_answer())) return door;
  const auto step = static_cast<size_t>(in_a - of_a.picked().begin());
  Place place;
  place.door = Door::kPick;
  place.at = place.step = static_cast<uint32_t>(step);
  place.seen_a = shown_pick(a, of_a.picked(), step);
  place.seen_b = shown_pick(b, of_b.picked(), step);
  door.place = std::move(place);
  door.verdict = Verdict::kUnexplained;
  return door;
}

// Of the first step whose picks differ: both sides' stages on A's logits, coin and state. state: of
// A's chain before the step.
Result<PickErrors> compare_stages(Side& a, Side& b, const Generator& of_a, size_t step,
                                  std::span<const char> state) {
  PLUMB_ASSIGN(pipeline::SamplerChain chain_a, a.pipeline().sampler());
  PLUMB_ASSIGN(pipeline::SamplerChain chain_b, b.pipeline().sampler());
  PLUMB_TRY(chain_a.set_state(state));
  return compare_picks(chain_a, chain_b, of_a.logits(), of_a.context_of_step(step));
}

// How bad it is that the picks part there, where the stages are equal.
Verdict onset_verdict(const Generator& of_a, const Generator& of_b, const LogitErrors& errors,
                      const PickErrors& stages, std::optional<double> noise) {
  if (errors.n_bits_differ == 0 || errors.verdict == Verdict::kWrong) return Verdict::kWrong;
  const bool have_both = of_a.picked().size() == of_b.picked().size() && !of_a.picked().empty();
  if (!have_both || !noise || errors.verdict == Verdict::kUnexplained) return Verdict::kUnexplained;
  const int32_t one = of_a.picked().back(), other = of_b.picked().back();
  const double change = gap_change(of_a.logits(), of_b.logits(), one, other);
  if (!(change <= *noise)) return Verdict::kUnexplained;
  // Without a coin nothing but the gap itself parts the two.
  if (!stages.coin && !(gap(of_a.logits(), one, other) <= *noise)) return Verdict::kUnexplained;
  return Verdict::kTieFlip;
}

// Rows of logits that are held at once.
constexpr size_t kRowsAtOnce = 32;

// Bits of the text's ids behind the first, by the bytes that they stand for.
Result<std::optional<double>> bits_per_byte(Side& side, const pipeline::Encoding& encoding,
                                            const DiffRequest& request) {
  if (encoding.ids.size() < 2) return std::optional<double>();
  PLUMB_TRY(side.restart());
  const size_t n_vocab = side.hyper_parameters().n_vocab;
  const std::span<const int32_t> read = std::span(encoding.ids).first(encoding.ids.size() - 1);
  double nats = 0;
  uint64_t bytes = 0;
  for (size_t first = 0; first < read.size(); first += kRowsAtOnce) {
    const auto ids = read.subspan(first, std::min(kRowsAtOnce, read.size() - first));
    const auto rows = side.forward(ids, {.all_rows = true, .cancel = request.cancel});
    // The side's own run has the same error, and tells it.
    if (!rows && rows.error().code == PLUMB_NUMERIC) return std::optional<double>();
    if (!rows) return rows.error();
    for (size_t i = 0; i < ids.size(); ++i) {
      const size_t next = first + i + 1;
      nats -= log_probability(rows->subspan(i * n_vocab, n_vocab), encoding.ids[next]);
      bytes += encoding.spans[next].end - encoding.spans[next].begin;
    }
  }
  if (bytes == 0) return std::optional<double>();
  return std::optional<double>(nats / std::log(2.0) / static_cast<double>(bytes));
}

}  // namespace

Result<bool> compare_chained(Side& a, Side& b, const PreparedPrompt& prompt,
                             const DiffRequest& request, const Progress& say,
                             PromptReport& report) {
  say("both sides on their own");
  PLUMB_ASSIGN(Generator of_a, Generator::begin(a, prompt.encoding_a.ids, request, show_ids));
  PLUMB_ASSIGN(Generator of_b, Generator::begin(b, prompt.encoding_b.ids, request, request.show_b));
  const LogitNoise noise =
      logit_noise(request.noise, a.numerics(), b.numerics(), promises_equal(a, b));
  bool is_together = prompt.encoding_a.ids == prompt.encoding_b.ids;
  std::optional<Verdict> onset;  // of the step at which the picks part
  std::vector<char> state;  // of A's stages in front of the step
  const auto n_prompt = static_cast<uint32_t>(prompt.encoding_a.ids.size());
  while (!of_a.has_ended() || !of_b.has_ended()) {
    const size_t step = std::max(of_a.picked().size(), of_b.picked().size());
    if (is_together) {
      PLUMB_ASSIGN(state, of_a.chain().state());
    }
    PLUMB_TRY(of_a.step());
    PLUMB_TRY(of_b.step());
    if (!is_together || of_a.logits().empty() || of_b.logits().empty()) continue;
    LogitErrors errors = compare_logits(of_a.logits(), of_b.logits());
    errors.step = static_cast<uint32_t>(step);
    errors.position = n_prompt + errors.step - 1;
    judge(errors, noise.gap, noise.row);
    if (const auto tokenizer = a.pipeline().tokenizer()) add_pieces(errors, **tokenizer);
    is_together = of_a.picked() == of_b.picked();
    if (!is_together) {
      PLUMB_ASSIGN(PickErrors stages, compare_stages(a, b, of_a, step, state));
      if (stages.verdict != Verdict::kMatch) {
        add_cause(report,
                  explain_pick(a, b, of_a.logits(), of_a.context_of_step(step), state, stages));
      }
      onset = stages.verdict == Verdict::kWrong
                  ? Verdict::kWrong
                  : onset_verdict(of_a, of_b, errors, stages, noise.gap);
      if (*onset == Verdict::kTieFlip) errors.verdict = Verdict::kTieFlip;
      report.picks.push_back(std::move(stages));
    }
    report.logits.push_back(std::move(errors));
  }
  report.failure_a = of_a.failure();
  report.failure_b = of_b.failure();

  ExactDoor picks = pick_door(a, b, of_a, of_b);
  if (picks.place && onset) picks.verdict = *onset;
  const Verdict consequence = picks.verdict;
  report.exact.push_back(std::move(picks));
  PLUMB_ASSIGN(ShownDoors doors, compare_shown(a.pipeline(), b.pipeline(), of_a.picked(),
                                               of_b.picked(), request.show_b));
  for (ExactDoor* const door : {&doors.bytes, &doors.text}) {
    // Other picks have another text: that is no further finding.
    if (door->place && consequence != Verdict::kMatch) door->verdict = consequence;
    report.exact.push_back(std::move(*door));
  }
  report.text_a = std::move(doors.a.text);
  report.text_b = std::move(doors.b.text);
  if (consequence == Verdict::kMatch)
    add_cause(report, explain_shown(a, b, of_a.picked(), request.show_b, report));
  report.hints = onset_hints(report, of_a.picked(), of_b.picked());
  return !of_a.has_ended_answer() && of_a.failure().empty() &&
         of_a.picked().size() == request.n_steps;
}

Result<bool> compare_texts(Side& a, Side& b, const PreparedPrompt& prompt,
                           const DiffRequest& request, const Progress& say, PromptReport& report) {
  say("both sides on their own");
  for (const Door door : {Door::kTokens, Door::kOps, Door::kLogits, Door::kPick, Door::kBytes})
    report.exact.push_back(not_compared(door, "the ids of the two vocabularies mean other bytes"));
  const auto text_of = [&](Side& side, const pipeline::Encoding& encoding, const Shower& show,
                           std::optional<double>& bits, std::string& failure,
                           std::string& text) -> Result<size_t> {
    PLUMB_ASSIGN(bits, bits_per_byte(side, encoding, request));
    PLUMB_ASSIGN(Generator generator, Generator::begin(side, encoding.ids, request, show));
    while (!generator.has_ended()) PLUMB_TRY(generator.step());
    failure = generator.failure();
    text = generator.shown().text;
    return generator.picked().size();
  };
  PLUMB_ASSIGN(const size_t n_a, text_of(a, prompt.encoding_a, show_ids, report.bits_per_byte_a,
                                         report.failure_a, report.text_a));
  PLUMB_ASSIGN(const size_t n_b, text_of(b, prompt.encoding_b, request.show_b,
                                         report.bits_per_byte_b, report.failure_b, report.text_b));
  if (n_a == 0 && n_b == 0) {
    report.exact.push_back(not_compared(Door::kText, "no token was generated"));
    return false;
  }
  // Numbers of two models are never equal, though the texts be.
  report.verdict = worse(report.verdict, Verdict::kDrift);
  ExactDoor door = compare_bytes(Door::kText, report.text_a, report.text_b);
  // Two models say two things: that proves nothing wrong.
  if (door.place) door.verdict = Verdict::kUnexplained;
  report.exact.push_back(std::move(door));
  return false;
}

}  // namespace plumbline::diff
