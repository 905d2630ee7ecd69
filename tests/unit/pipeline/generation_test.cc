// How a generation ends, and what it leaves behind. Scripted picks on the demo model say which ids
// come; the oracle of their text is the tokenizer's own decode.
#include <gmock/gmock.h>

#include <atomic>

#include "tests/unit/pipeline/tiny_world.h"

namespace plumbline::test {
namespace {

using pipeline::Generation;
using pipeline::GenerationRequest;
using pipeline::StopReason;
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
  request.stops = {"nowhere", "se by"};
  std::string streamed;
  request.on_text = [&](std::string_view text) { streamed += text; };
  const auto generation = run.generate(request);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kStopString);
  EXPECT_EQ(generation->text, " the old hou");
  EXPECT_EQ(streamed, generation->text);
}

TEST(Generation, EndsAfterMaxTokens) {
  Scripted run({});
  GenerationRequest request = run.request();
  request.max_tokens = 5;
  int n_picks = 0;
  request.on_pick = [&](const pipeline::Pick&) { ++n_picks; };
  const auto generation = run.generate(request);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->stop_reason, StopReason::kMaxTokens);
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
