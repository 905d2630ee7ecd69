// Stage 6: a conversation of three turns. One session goes on from turn to turn: it keeps the rows
// of the ids that the next prompt begins with, forgets the rest and appends. Another takes every
// turn's whole prompt in one fresh prefill. Rows of the KV caches, logits and picks must be equal.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "core/diff/row_errors.h"
#include "core/golden/checks.h"
#include "core/pipeline/generator.h"
#include "core/protocol/stages.h"
#include "core/trace/recording.h"

namespace plumbline::protocol {
namespace {

constexpr uint32_t kAnswerTokens = 24;
constexpr const char* kTurns[] = {"What does a plumb line tell a mason?",
                                  "And what would a level tell him?",
                                  "Name one more tool of that kind, in one sentence."};

/// Records the KV caches as they are behind a forward.
class KvRecorder : public model::OpObserver {
 public:
  explicit KvRecorder(trace::Recording& recording) : recording_(&recording) {}

  bool wants(const model::OpInfo& op) override { return op.kind == PLUMB_OP_KV_APPEND; }
  Result<void> after(model::OpSite& site) override {
    const model::RowShape shape = site.output_shape();
    PLUMB_TRY(site.read_output(values_));
    return recording_->put(site.info().name, shape.first_position, shape.width, values_);
  }

 private:
  trace::Recording* recording_;
  std::vector<float> values_;
};

/// What a session left behind one turn.
struct TurnState {
  uint32_t n_reused = 0;  // rows that were there
  std::vector<float> logits;  // behind the prompt
  trace::Recording kv;  // behind the prompt
  std::vector<int32_t> answer;
  std::string text;  // of it
};

class Session {
 public:
  Session(const Context& context, pipeline::Pipeline& pipeline, model::Decoder& decoder)
      : context_(&context), pipeline_(&pipeline), decoder_(&decoder) {}

  /// Takes the prompt of a turn, keeping what it begins with, and answers. is_fresh: keeps nothing.
  Result<TurnState> turn(std::span<const int32_t> prompt, bool is_fresh) {
    TurnState state;
    const auto n_common =
        static_cast<size_t>(std::ranges::mismatch(held_, prompt).in1 - held_.begin());
    // The last id is always run again: its logits are wanted.
    state.n_reused = is_fresh ? 0 : static_cast<uint32_t>(std::min(n_common, prompt.size() - 1));
    PLUMB_TRY(decoder_->truncate(state.n_reused));
    held_.assign(prompt.begin(), prompt.end());

    KvRecorder recorder(state.kv);
    decoder_->set_observer(&recorder);
    const auto row = forward(prompt.subspan(state.n_reused));
    decoder_->set_observer(nullptr);
    if (!row) return row.error();
    state.logits.assign(row->begin(), row->end());
    PLUMB_TRY(answer(prompt, state));
    return state;
  }

 private:
  Result<std::span<const float>> forward(std::span<const int32_t> ids) {
    decoder_->set_cancel(context_->request.cancel);
    auto row = decoder_->forward(ids);
    decoder_->set_cancel(nullptr);
    return row;
  }

  Result<void> answer(std::span<const int32_t> prompt, TurnState& state) {
    PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, pipeline_->tokenizer());
    PLUMB_ASSIGN(pipeline::SamplerChain chain, pipeline_->sampler());
    pipeline::GenerationRequest request =
        pipeline_->generation_request({prompt.begin(), prompt.end()});
    request.max_tokens = kAnswerTokens;
    PLUMB_ASSIGN(const std::unique_ptr<pipeline::Generator> generator,
                 pipeline::Generator::create(chain, *tokenizer, std::move(request)));
    std::span<const float> row = state.logits;
    while (true) {
      PLUMB_ASSIGN(const int32_t picked, generator->feed(row));
      if (generator->is_over()) break;
      PLUMB_ASSIGN(row, forward({&picked, 1}));
      held_.push_back(picked);
    }
    state.answer = generator->ids();
    state.text = generator->generation().text;
    return {};
  }

  const Context* context_;
  pipeline::Pipeline* pipeline_;
  model::Decoder* decoder_;
  std::vector<int32_t> held_;  // ids whose rows the decoder has
};

/// The conversation so far as ids: by the model's template, or as plain text.
class Conversation {
 public:
  explicit Conversation(pipeline::Pipeline& pipeline) : pipeline_(&pipeline) {}

  Result<std::vector<int32_t>> ask(const char* question) {
    messages_.push_back({{"role", "user"}, {"content", question}});
    text_ += std::string("Question: ") + question + "\nAnswer:";
    PLUMB_ASSIGN(const std::string_view source, pipeline_->template_text());
    pipeline::Prompt prompt{.bytes = text_};
    if (!source.empty()) {
      PLUMB_ASSIGN(prompt,
                   pipeline_->render(messages_, {.final_turn = pipeline::FinalTurn::kAnswer}));
    }
    PLUMB_ASSIGN(const pipeline::Encoding encoding, pipeline_->encode_prompt(prompt));
    return encoding.ids;
  }

  void hear(const std::string& answer) {
    messages_.push_back({{"role", "assistant"}, {"content", answer}});
    text_ += answer + "\n";
  }

 private:
  pipeline::Pipeline* pipeline_;
  pipeline::OrderedJson messages_ = pipeline::OrderedJson::array();
  std::string text_;
};

/// noise: of a whole run's logits, in sigma. An error of a row of a cache, relative to the row, is
/// held to it too: all that made the row has its share in the logits.
golden::Finding compare_kv(const std::string& turn, const TurnState& a, const TurnState& b,
                           std::optional<double> noise) {
  golden::Finding finding{.what = turn + ": rows of the KV caches"};
  std::string first;
  CacheErrors all;
  for (const std::string& op : b.kv.ops()) {
    const trace::Rows& fresh = *b.kv.find(op);
    const trace::Rows* const kept = a.kv.find(op);
    finding.n += fresh.values.size();
    const CacheErrors one = kept == nullptr
                                ? compare_cache({}, fresh.values, fresh.width)
                                : compare_cache(kept->values, fresh.values, fresh.width);
    if (one.n_differ > 0 && first.empty()) first = op;
    all.n_differ += one.n_differ;
    all.worst_row = std::max(all.worst_row, one.worst_row);
  }
  const uint64_t n_differ = all.n_differ;
  finding.statement =
      std::to_string(a.n_reused) + " rows kept; " +
      (n_differ == 0 ? "equal bits in " + std::to_string(b.kv.ops().size()) + " caches"
                     : std::to_string(n_differ) + " of " + std::to_string(finding.n) +
                           " values differ, first in " + first + "; the worst row by " +
                           golden::text_of(all.worst_row) + " of its size" +
                           (noise && *noise > 0 ? ", the noise " + golden::text_of(*noise) : ""));
  finding.numbers = {{"rows_kept", static_cast<double>(a.n_reused)},
                     {"bits_differ", static_cast<double>(n_differ)},
                     {"worst_row", all.worst_row}};
  finding.verdict = golden::judged(n_differ == 0, all.worst_row, noise, false);
  return finding;
}

/// before: the verdict of the rows and logits that the picks stand on.
golden::Finding compare_answers(const std::string& turn, const TurnState& a, const TurnState& b,
                                diff::Verdict before) {
  golden::Finding finding{.what = turn + ": picks of the answer", .n = b.answer.size()};
  const auto [kept, fresh] = std::ranges::mismatch(a.answer, b.answer);
  const bool is_equal = kept == a.answer.end() && fresh == b.answer.end();
  finding.statement = is_equal ? std::to_string(b.answer.size()) + " ids, equal"
                               : "they part at token " + std::to_string(kept - a.answer.begin());
  finding.verdict = is_equal ? diff::Verdict::kMatch : verdict_of_parting(before);
  return finding;
}

}  // namespace

CacheErrors compare_cache(std::span<const float> kept, std::span<const float> fresh,
                          uint32_t width) {
  if (kept.size() != fresh.size() || width == 0 || fresh.size() % width != 0)
    return {std::max(kept.size(), fresh.size()), std::numeric_limits<double>::infinity()};
  CacheErrors errors;
  for (size_t at = 0; at < fresh.size(); at += width) {
    const diff::RowSums sums =
        diff::compare_row(fresh.subspan(at, width), kept.subspan(at, width), {});
    if (sums.n_bits_differ == 0) continue;
    errors.n_differ += sums.n_bits_differ;
    const double error = std::sqrt(sums.introduced / sums.a);
    // What is no number is larger than any.
    if (!(error <= errors.worst_row))
      errors.worst_row = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
  return errors;
}

diff::Verdict verdict_of_parting(diff::Verdict before) {
  if (before == diff::Verdict::kMatch) return diff::Verdict::kWrong;
  return std::max(before, diff::Verdict::kTieFlip);
}

Result<void> three_turns(const Context& context, Stage& stage) {
  PLUMB_ASSIGN(const OpenSide ours, opened(stage, context.sides.open({})));
  PLUMB_ASSIGN(model::Decoder* const decoder, opened(stage, ours.pipeline->decoder()));
  stage.a = "one session that goes on";
  stage.b = "a fresh prefill for each turn, " + describe(*ours);
  Session session(context, *ours.pipeline, *decoder);
  Conversation conversation(*ours.pipeline);
  std::vector<std::vector<int32_t>> prompts;
  std::vector<TurnState> kept;
  for (const char* question : kTurns) {
    context.say("turn " + std::to_string(prompts.size() + 1));
    PLUMB_ASSIGN(std::vector<int32_t> prompt, conversation.ask(question));
    if (prompt.empty()) {
      stage.why_not = "the conversation has no ids";
      return {};
    }
    prompts.push_back(std::move(prompt));
    PLUMB_ASSIGN(TurnState state, session.turn(prompts.back(), false));
    kept.push_back(std::move(state));
    conversation.hear(kept.back().text);
  }
  // A class that promises no equal bits may sum a longer prefill in another order.
  const auto noise =
      golden::noise_between(ours->numerics(), ours->numerics(), context.request.noise);
  for (size_t i = 0; i < prompts.size(); ++i) {
    const std::string turn = "turn " + std::to_string(i + 1);
    context.say(turn + ", fresh");
    PLUMB_ASSIGN(const TurnState fresh, session.turn(prompts[i], true));
    stage.findings.push_back(compare_kv(turn, kept[i], fresh, noise));
    diff::Verdict before = stage.findings.back().verdict;
    LogitTally logits(turn + ": logits behind the prompt", noise);
    logits.add(kept[i].logits, fresh.logits);
    stage.findings.push_back(std::move(logits).finish());
    before = std::max(before, stage.findings.back().verdict);
    stage.findings.push_back(compare_answers(turn, kept[i], fresh, before));
  }
  stage.findings.push_back(golden::not_compared("truncation of a context that is full",
                                                "plumb diff --conversation compares what a full "
                                                "context evicts; cutting back to a common prefix "
                                                "is part of the turns above"));
  return {};
}

}  // namespace plumbline::protocol
