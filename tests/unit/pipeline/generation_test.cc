// How a generation ends, and what it leaves behind. Scripted picks on the demo model say which ids
// come; the oracle of their text is the tokenizer's own decode.
#include <gmock/gmock.h>

#include <atomic>

#include "tests/unit/pipeline/tiny_world.h"

namespace plumbline::test {
namespace {

using pipeline::Generation;
using pipeline::GenerationRequest;
using pipeline::Stop;
using pipeline::StopReason;
using pipeline::StopSet;
using testing::HasSubstr;

std::string scripted(const std::vector<int32_t>& ids, const std::string& then = "end") {
  return "sampling.stages=[scripted: {ids: " + nlohmann::json(ids).dump() + ", then: " + then +
         "}, greedy]";
}

class Scripted {
 public:
  explicit Scripted(std::vector<std::string> overrides)
      : pipeline_(tiny_world(std::move(overrides))) {}

  Result<Generation> generate(const GenerationRequest& request) {
    PLUMB_ASSIGN(model::Decoder* const decoder, pipeline_->decoder());
    PLUMB_ASSIGN(pipeline::SamplerChain sampler, pipeline_->sampler());
    PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, pipeline_->tokenizer());
    PLUMB_TRY(decoder->truncate(0));
    return pipeline::generate(*decoder, sampler, *tokenizer, request);
  }
  GenerationRequest request(const std::string& prompt = "Mara lives in") {
    const auto encoding = pipeline_->encode_prompt({.bytes = prompt});
    EXPECT_TRUE(encoding);
    return pipeline_->generation_request(encoding ? encoding->ids : std::vector<int32_t>());
  }
  std::vector<int32_t> ids(const std::string& text) {
    const auto encoding = (*pipeline_->tokenizer())->encode(text, PLUMB_SPECIAL_PARSE);
    EXPECT_TRUE(encoding);
    return encoding ? encoding->ids : std::vector<int32_t>();
  }
  pipeline::Pipeline& pipeline() { return *pipeline_; }

 private:
  std::unique_ptr<pipeline::Pipeline> pipeline_;
};

std::vector<int32_t> ids_of(const std::string& text) {
  Scripted any({});
  return any.ids(text);
}

TEST(Generation, EndsAtAnEndToken) {
  std::vector<int32_t> script = ids_of(" the old house");
  const std::vector<int32_t> end = ids_of("<|im_end|>");
  ASSERT_EQ(end.size(), 1u);
  script.push_back(end[0]);
  const std::vector<int32_t> expected = script;
  script.push_back(script[0]);
  Scripted run({scripted(script)});
  const auto generation = run.generate(run.request());
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kEndToken);
  EXPECT_EQ(generation->ids, expected);
  EXPECT_EQ(generation->text, " the old house");
}

TEST(Generation, EndsAtAStopStringThatIsNotShown) {
  Scripted run({scripted(ids_of(" the old house by the sea"))});
  GenerationRequest request = run.request();
  request.answer.stops = *StopSet::create({.texts = {"nowhere", "se by"}});
  std::string streamed;
  request.on_text = [&](std::string_view text) { streamed += text; };
  const auto generation = run.generate(request);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kStopSequence);
  EXPECT_EQ(generation->text, " the old hou");
  EXPECT_EQ(streamed, generation->text);
  ASSERT_TRUE(generation->stop);
  EXPECT_EQ(generation->stop->kind, Stop::Kind::kText);
  EXPECT_EQ(generation->stop->index, 1u);
  EXPECT_EQ(generation->stop->at, 12u);
  // Spans end where the text does.
  ASSERT_EQ(generation->spans.size(), generation->ids.size());
  EXPECT_EQ(generation->spans.back().end, 12u);
  for (const plumb_span span : generation->spans) EXPECT_LE(span.begin, span.end);
}

TEST(Generation, AStopInsideATokenCutsItsText) {
  const std::vector<int32_t> script = ids_of(" the old house");
  Scripted run({scripted(script)});
  GenerationRequest request = run.request();
  request.answer.stops = *StopSet::create({.texts = {"ous"}});
  const auto generation = run.generate(request);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kStopSequence);
  EXPECT_EQ(generation->text, " the old h");
  EXPECT_EQ(generation->spans.back().end, generation->text.size());
}

TEST(Generation, EndsAtATokenThatTheConfigLists) {
  std::vector<int32_t> script = ids_of(" the old house");
  ASSERT_GE(script.size(), 3u);
  Scripted run({scripted(script), "generation.stop_ids=[" + std::to_string(script[2]) + "]"});
  const auto generation = run.generate(run.request());
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kStopToken);
  script.resize(3);
  EXPECT_EQ(generation->ids, script);
  EXPECT_EQ(generation->text, *(*run.pipeline().tokenizer())->decode(std::span(script).first(2)));
  ASSERT_TRUE(generation->stop);
  EXPECT_EQ(generation->stop->kind, Stop::Kind::kId);
  EXPECT_EQ(generation->stop->at, generation->text.size());
}

TEST(Generation, EndsAtARowOfIdsWhoseTextWasHeldBack) {
  const std::vector<int32_t> script = ids_of(" the old house by the sea");
  const std::vector<int32_t> tail = ids_of(" house by");
  Scripted run(
      {scripted(script), "generation.stop_tails=[[1,2]," + nlohmann::json(tail).dump() + "]"});
  GenerationRequest request = run.request();
  std::vector<std::string> pieces;
  request.on_text = [&](std::string_view piece) { pieces.emplace_back(piece); };
  const auto generation = run.generate(request);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kStopSequence);
  EXPECT_EQ(generation->text, " the old");
  ASSERT_TRUE(generation->stop);
  EXPECT_EQ(generation->stop->kind, Stop::Kind::kTail);
  EXPECT_EQ(generation->stop->index, 1u);
  std::string streamed;
  for (const std::string& piece : pieces) streamed += piece;
  EXPECT_EQ(streamed, generation->text);
}

TEST(Generation, AConfigMayListTenThousandStops) {
  std::string stops;
  for (int i = 0; i < 9999; ++i) stops += "stop number " + std::to_string(i) + ", ";
  Scripted run(
      {scripted(ids_of(" the old house by the sea")), "generation.stop=[" + stops + "se by]"});
  const auto generation = run.generate(run.request());
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->text, " the old hou");
  ASSERT_TRUE(generation->stop);
  EXPECT_EQ(generation->stop->index, 9999u);
}

TEST(Generation, RefusesAStopOutsideTheVocabulary) {
  Scripted run({"generation.stop_ids=[100000]"});
  const auto refused = run.generate(run.request());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PLUMB_INVALID_ARGUMENT);
  EXPECT_THAT(refused.error().message, HasSubstr("token id 100000, but the vocabulary has"));
}

TEST(Generation, RunsOnPastEndTokensIfToldTo) {
  std::vector<int32_t> script = ids_of(" the<|im_end|> house");
  Scripted run({scripted(script), "generation.ignore_end=true"});
  const auto generation = run.generate(run.request());
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kSamplerEnded);
  EXPECT_EQ(generation->ids, script);
  EXPECT_EQ(generation->text, " the house");
}

TEST(Generation, AControlTokenInTheMiddleFlushesAndIsNoText) {
  const std::vector<int32_t> script = ids_of(" the EN<|im_start|>D");
  Scripted run({scripted(script)});
  GenerationRequest request = run.request();
  request.answer.stops = *StopSet::create({.texts = {"END"}});
  auto generation = run.generate(request);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->text, " the END");
  EXPECT_EQ(generation->stop_reason, StopReason::kSamplerEnded);

  request.answer.shown_control_ids = ids_of("<|im_start|>");
  generation = run.generate(request);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->text, " the EN<|im_start|>D");
}

TEST(Generation, EndsAfterMaxTokens) {
  Scripted run({});
  GenerationRequest request = run.request();
  request.max_tokens = 5;
  int n_picks = 0;
  request.on_pick = [&](const pipeline::Pick&) { ++n_picks; };
  const auto generation = run.generate(request);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kMaxOutput);
  EXPECT_EQ(generation->ids.size(), 5u);
  EXPECT_EQ(n_picks, 5);
  // The last pick is not fed back: nobody asks what comes behind it.
  EXPECT_EQ((*run.pipeline().decoder())->n_past(), request.prompt_ids.size() + 4);
}

TEST(Generation, EndsWithTheScript) {
  const std::vector<int32_t> script = ids_of(" the old house");
  Scripted run({scripted(script)});
  const auto generation = run.generate(run.request());
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kSamplerEnded);
  EXPECT_EQ(generation->ids, script);
}

TEST(Generation, EndsWhenItIsCancelled) {
  Scripted run({});
  GenerationRequest request = run.request();
  std::atomic<bool> cancel{true};
  request.cancel = &cancel;
  auto generation = run.generate(request);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kCancelled);
  EXPECT_TRUE(generation->ids.empty());
  EXPECT_EQ(generation->decode_s, 0);

  cancel = false;
  request.on_pick = [&](const pipeline::Pick&) { cancel = true; };
  generation = run.generate(request);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kCancelled);
  EXPECT_EQ(generation->ids.size(), 1u);
}

TEST(Generation, EndsWhenTheContextIsFull) {
  const std::vector<int32_t> prompt = ids_of("Mara lives in");
  Scripted run({"context.length=8", "context.reserve_output=1", "generation.max_tokens=100",
                scripted(std::vector<int32_t>(100, prompt[0]))});
  const auto generation = run.generate(run.request());
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kContextFull);
  // The last pick needs no row of its own.
  EXPECT_EQ(generation->ids.size(), 8 - prompt.size() + 1);
}

TEST(Generation, ARingGoesOnWhenTheContextIsFull) {
  const std::vector<int32_t> prompt = ids_of("Mara lives in");
  for (const char* policy : {"ring", "sink_ring"}) {
    Scripted run({"context.length=8", "context.reserve_output=1", "generation.max_tokens=30",
                  std::string("context.policy=") + policy,
                  scripted(std::vector<int32_t>(100, prompt[0]))});
    const auto generation = run.generate(run.request());
    ASSERT_TRUE(generation) << generation.error().message;
    EXPECT_EQ(generation->stop_reason, StopReason::kMaxOutput);
    EXPECT_EQ(generation->ids.size(), 30u);
    EXPECT_LE((*run.pipeline().decoder())->n_past(), 8u);
  }
}

TEST(Generation, RefusesCachesAboveTheBudget) {
  const auto pipeline = tiny_world({"context.length=1000000", "context.kv_budget_mib=1"});
  const auto refused = pipeline->decoder();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PLUMB_INVALID_ARGUMENT);
  EXPECT_THAT(refused.error().message, HasSubstr("but the budget is 1048576: expected at most"));
  EXPECT_TRUE(tiny_world({"context.length=64", "context.kv_budget_mib=64"})->decoder());
}

TEST(Generation, RefusesAPromptThatLeavesNoRoomForTheAnswer) {
  Scripted run({"context.length=8", "context.reserve_output=4", "generation.max_tokens=6"});
  GenerationRequest request = run.request();
  request.prompt_ids.resize(4, request.prompt_ids[0]);
  EXPECT_TRUE(run.generate(request));
  request.prompt_ids.resize(5, request.prompt_ids[0]);
  const auto refused = run.generate(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(refused.error().message,
            "the prompt has 5 ids, but there is room for 4: of 8 rows of context, 0 are used and 4 "
            "reserved for the "
            "answer; shorten the prompt, raise context.length or lower context.reserve_output");
  // No more is reserved than may be generated.
  request.max_tokens = 3;
  EXPECT_TRUE(run.generate(request));
}

TEST(Generation, RefusesAnEmptyPrompt) {
  Scripted run({});
  GenerationRequest request = run.request();
  request.prompt_ids.clear();
  const auto refused = run.generate(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PLUMB_INVALID_ARGUMENT);
}

TEST(Generation, GoesOnBehindWhatTheDecoderHolds) {
  Scripted run({});
  GenerationRequest request = run.request();
  request.max_tokens = 8;
  const auto whole = run.generate(request);
  ASSERT_TRUE(whole) << whole.error().message;

  pipeline::Pipeline& pipeline = run.pipeline();
  model::Decoder& decoder = **pipeline.decoder();
  ASSERT_TRUE(decoder.truncate(request.prompt_ids.size() - 1));
  request.n_held = decoder.n_past();
  pipeline::SamplerChain sampler = *pipeline.sampler();
  const auto rest = pipeline::generate(decoder, sampler, **pipeline.tokenizer(), request);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->ids, whole->ids);

  request.n_held = decoder.n_past() + 1;
  const auto refused = pipeline::generate(decoder, sampler, **pipeline.tokenizer(), request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PLUMB_INVALID_ARGUMENT);
  EXPECT_THAT(refused.error().message, HasSubstr("are said to be held"));
}

TEST(Generation, StreamsWholeCharactersOnly) {
  // The model's vocabulary has bytes, so a character outside it takes several ids.
  const std::string text = " \xE2\x82\xAC \xF0\x9F\x99\x82!";
  const std::vector<int32_t> script = ids_of(text);
  ASSERT_GT(script.size(), 6u);
  Scripted run({scripted(script)});
  GenerationRequest request = run.request();
  std::vector<std::string> pieces;
  request.on_text = [&](std::string_view piece) { pieces.emplace_back(piece); };
  const auto generation = run.generate(request);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->text, text);
  for (const std::string& piece : pieces) {
    EXPECT_NE(static_cast<unsigned char>(piece[0]) & 0xC0, 0x80)
        << "a piece begins inside a character";
  }
}

}  // namespace
}  // namespace plumbline::test
