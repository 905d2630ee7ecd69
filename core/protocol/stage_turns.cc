// Stage 6: a conversation of three turns. One session goes on from turn to turn: it keeps the rows
// of the ids that the next prompt begins with, forgets the rest and appends. Another takes every
// turn's whole prompt in one fresh prefill. Rows of the KV caches, logits and picks must be equal.
#include <algorithm>
#include <bit>

#include "core/golden/checks.h"
#include "core/pipeline/text_stream.h"
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
    const std::vector<uint64_t> control_bits =
        tokenizer->control_bits(decoder_->hyper_parameters().n_vocab);
    std::span<const float> row = state.logits;
    while (true) {
      PLUMB_ASSIGN(const pipeline::Pick pick,
                   chain.pick(row, pipeline::sample_context(pipeline_->config().sampling.seed,
                                                            prompt, state.answer, control_bits)));
      state.answer.push_back(pick.id);
      const bool is_end = (tokenizer->attributes(pick.id) & PLUMB_TOKEN_END) != 0;
      if (is_end || state.answer.size() == kAnswerTokens) return {};
      PLUMB_ASSIGN(row, forward({&state.answer.back(), 1}));
      held_.push_back(pick.id);
    }
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

  Result<void> hear(std::span<const int32_t> answer) {
    PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, pipeline_->tokenizer());
    std::vector<int32_t> spoken;
    for (const int32_t id : answer) {
      if ((tokenizer->attributes(id) & (PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_END)) == 0)
        spoken.push_back(id);
    }
    PLUMB_ASSIGN(const std::string text,
                 pipeline::decode_text(
                     *tokenizer, spoken,
                     pipeline::ill_formed(config::IllFormed::kAsTokenizer, tokenizer->info())));
    messages_.push_back({{"role", "assistant"}, {"content", text}});
    text_ += text + "\n";
    return {};
  }

 private:
  pipeline::Pipeline* pipeline_;
  pipeline::OrderedJson messages_ = pipeline::OrderedJson::array();
  std::string text_;
};

uint64_t count_differing(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return std::max(a.size(), b.size());
  uint64_t n = 0;
  for (size_t i = 0; i < a.size(); ++i)
    n += std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i]) ? 1 : 0;
  return n;
}

/// otherwise: the verdict where bits differ.
golden::Finding compare_kv(const std::string& turn, const TurnState& a, const TurnState& b,
                           diff::Verdict otherwise) {
  golden::Finding finding{.what = turn + ": rows of the KV caches"};
  std::string first;
  uint64_t n_differ = 0;
  for (const std::string& op : b.kv.ops()) {
    const trace::Rows& fresh = *b.kv.find(op);
    const trace::Rows* const kept = a.kv.find(op);
    finding.n += fresh.values.size();
    const uint64_t n =
        kept == nullptr ? fresh.values.size() : count_differing(kept->values, fresh.values);
    if (n > 0 && first.empty()) first = op;
    n_differ += n;
  }
  finding.statement =
      std::to_string(a.n_reused) + " rows kept; " +
      (n_differ == 0 ? "equal bits in " + std::to_string(b.kv.ops().size()) + " caches"
                     : std::to_string(n_differ) + " of " + std::to_string(finding.n) +
                           " values differ, first in " + first);
  finding.numbers = {{"rows_kept", static_cast<double>(a.n_reused)},
                     {"bits_differ", static_cast<double>(n_differ)}};
  finding.verdict = n_differ == 0 ? diff::Verdict::kMatch : otherwise;
  return finding;
}

golden::Finding compare_answers(const std::string& turn, const TurnState& a, const TurnState& b,
                                diff::Verdict otherwise) {
  golden::Finding finding{.what = turn + ": picks of the answer", .n = b.answer.size()};
  const auto [kept, fresh] = std::ranges::mismatch(a.answer, b.answer);
  const bool is_equal = kept == a.answer.end() && fresh == b.answer.end();
  finding.statement = is_equal ? std::to_string(b.answer.size()) + " ids, equal"
                               : "they part at token " + std::to_string(kept - a.answer.begin());
  finding.verdict = is_equal ? diff::Verdict::kMatch : otherwise;
  return finding;
}

}  // namespace

Result<void> three_turns(const Context& context, Stage& stage) {
  PLUMB_ASSIGN(const OpenSide ours, context.sides.open({}));
  PLUMB_ASSIGN(model::Decoder* const decoder, ours.pipeline->decoder());
  stage.a = "one session that goes on";
  stage.b = "a fresh prefill for each turn, " + describe(*ours);
  Session session(context, *ours.pipeline, *decoder);
  Conversation conversation(*ours.pipeline);
  std::vector<std::vector<int32_t>> prompts;
  std::vector<TurnState> kept;
  for (const char* question : kTurns) {
    context.say("turn " + std::to_string(prompts.size() + 1));
    PLUMB_ASSIGN(std::vector<int32_t> prompt, conversation.ask(question));
    if (prompt.empty()) return Error{PLUMB_UNSUPPORTED, "the conversation has no ids"};
    prompts.push_back(std::move(prompt));
    PLUMB_ASSIGN(TurnState state, session.turn(prompts.back(), false));
    kept.push_back(std::move(state));
    PLUMB_TRY(conversation.hear(kept.back().answer));
  }
  // A class that promises no equal bits may sum a longer prefill in another order.
  const auto noise =
      golden::noise_between(ours->numerics(), ours->numerics(), context.request.noise);
  const diff::Verdict otherwise = noise == 0.0 ? diff::Verdict::kWrong : diff::Verdict::kDrift;
  for (size_t i = 0; i < prompts.size(); ++i) {
    const std::string turn = "turn " + std::to_string(i + 1);
    context.say(turn + ", fresh");
    PLUMB_ASSIGN(const TurnState fresh, session.turn(prompts[i], true));
    stage.findings.push_back(compare_kv(turn, kept[i], fresh, otherwise));
    LogitTally logits(turn + ": logits behind the prompt", noise);
    logits.add(kept[i].logits, fresh.logits);
    stage.findings.push_back(std::move(logits).finish());
    stage.findings.push_back(compare_answers(turn, kept[i], fresh, otherwise));
  }
  stage.findings.push_back(golden::not_compared(
      "truncation of a context that is full",
      "there is no policy yet that shortens a conversation; cutting back to a common prefix is "
      "part of the turns above"));
  return {};
}

}  // namespace plumbline::protocol
