// Several answers in steps that they share. Oracle: each of them alone.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <optional>

#include "core/pipeline/shared_steps.h"
#include "tests/support/nan_embedding.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/pipeline/tiny_world.h"

namespace plumbline::test {
namespace {

using pipeline::Generation;
using pipeline::GenerationRequest;
using pipeline::SamplerChain;
using pipeline::StopReason;
using pipeline::StopSet;
using testing::HasSubstr;
using testing::IsEmpty;

// How one of the answers is made.
struct Wanted {
  std::string prompt;
  std::string stages;
  uint64_t seed = 1;
  uint32_t max_tokens = 24;
  pipeline::StopLists stops = {};
};

const std::vector<Wanted> kWanted = {
    {"Mara lives in", "[greedy]"},
    {"Once upon a time", "[temperature: {t: 1.5}, top_k: {k: 40}, cdf]", 7, 40},
    {"Who is Captain? Captain is", "[frequency: {strength: 1}, min_p: {p: 0.05}, gumbel]", 3, 17},
    {"The goose", "[mirostat_v2: {tau: 4}]", 11, 30, {.texts = {"zz", " "}}},
    {"Lukas", "[temperature: {t: 2}, cdf]", 5, 1},
};

// An answer and the logits of all its steps.
struct Answer {
  Result<Generation> made = Error{};
  std::vector<float> logits;
};

SamplerChain sampler_of(const Wanted& wanted) {
  return *tiny_world({"sampling.stages=" + wanted.stages})->sampler();
}

GenerationRequest request_of(pipeline::Pipeline& pipeline, const Wanted& wanted, Answer& answer) {
  GenerationRequest request =
      pipeline.generation_request(pipeline.encode_prompt({.bytes = wanted.prompt})->ids);
  request.seed = wanted.seed;
  request.max_tokens = wanted.max_tokens;
  request.answer.stops = *StopSet::create(wanted.stops);
  request.on_logits = [&answer](std::span<const float> logits) {
    answer.logits.insert(answer.logits.end(), logits.begin(), logits.end());
  };
  return request;
}

std::vector<Answer> alone(pipeline::Pipeline& pipeline) {
  std::vector<Answer> answers(kWanted.size());
  model::Decoder& decoder = **pipeline.decoder();
  for (size_t i = 0; i < kWanted.size(); ++i) {
    SamplerChain sampler = sampler_of(kWanted[i]);
    EXPECT_TRUE(decoder.truncate(0));
    answers[i].made = generate(decoder, sampler, **pipeline.tokenizer(),
                               request_of(pipeline, kWanted[i], answers[i]));
  }
  return answers;
}

void expect_same(const Answer& one, const Answer& other) {
  ASSERT_TRUE(one.made) << one.made.error().message;
  ASSERT_TRUE(other.made) << other.made.error().message;
  EXPECT_EQ(one.made->ids, other.made->ids);
  EXPECT_EQ(one.made->text, other.made->text);
  EXPECT_EQ(one.made->stop_reason, other.made->stop_reason);
  ASSERT_EQ(one.logits.size(), other.logits.size());
  EXPECT_EQ(std::memcmp(one.logits.data(), other.logits.data(), one.logits.size() * sizeof(float)),
            0);
}

TEST(Together, EachAnswerHasTheBitsThatItHasAlone) {
  const auto pipeline = tiny_world({});
  const std::vector<Answer> expected = alone(*pipeline);
  std::vector<Answer> answers(kWanted.size());
  std::vector<SamplerChain> samplers;
  samplers.reserve(kWanted.size());
  std::vector<pipeline::Participant> participants;
  for (size_t i = 0; i < kWanted.size(); ++i) {
    samplers.push_back(sampler_of(kWanted[i]));
    participants.push_back({&samplers[i], request_of(*pipeline, kWanted[i], answers[i])});
  }
  auto made =
      generate_together(**pipeline->decoder(), **pipeline->tokenizer(), std::move(participants));
  ASSERT_EQ(made.size(), kWanted.size());
  for (size_t i = 0; i < kWanted.size(); ++i) {
    SCOPED_TRACE(kWanted[i].prompt);
    answers[i].made = std::move(made[i]);
    expect_same(answers[i], expected[i]);
  }
  EXPECT_EQ(expected[3].made->stop_reason, StopReason::kStopSequence);
}

TEST(Together, AnswersJoinAtAnyStep) {
  const auto pipeline = tiny_world({});
  const std::vector<Answer> expected = alone(*pipeline);
  std::vector<Answer> answers(kWanted.size());
  std::vector<SamplerChain> samplers;
  samplers.reserve(kWanted.size());
  std::vector<std::unique_ptr<pipeline::Generator>> generators;
  pipeline::SharedSteps steps(**pipeline->decoder());
  for (size_t i = 0; i < kWanted.size(); ++i) {
    samplers.push_back(sampler_of(kWanted[i]));
    generators.push_back(*pipeline::Generator::create(
        samplers[i], **pipeline->tokenizer(), request_of(*pipeline, kWanted[i], answers[i])));
    steps.add(*generators.back());
    for (int n = 0; n < 3; ++n) steps.step();
  }
  while (steps.step()) {
  }
  for (size_t i = 0; i < kWanted.size(); ++i) {
    answers[i].made = generators[i]->generation();
    expect_same(answers[i], expected[i]);
  }
}

TEST(Together, WhatFailsOrIsCancelledLeavesTheOthersAlone) {
  const auto pipeline = tiny_world({"context.length=64"});
  const Wanted& wanted = kWanted[0];
  Answer expected;
  SamplerChain first = sampler_of(wanted), second = sampler_of(wanted), third = sampler_of(wanted),
               fourth = sampler_of(wanted);
  expected.made = generate(**pipeline->decoder(), first, **pipeline->tokenizer(),
                           request_of(*pipeline, wanted, expected));
  Answer answers[4];
  GenerationRequest good = request_of(*pipeline, wanted, answers[0]);
  GenerationRequest long_one = request_of(*pipeline, wanted, answers[1]);
  long_one.prompt_ids.resize(100, long_one.prompt_ids[0]);
  GenerationRequest outside = request_of(*pipeline, wanted, answers[2]);
  outside.prompt_ids.push_back(1 << 20);
  GenerationRequest cancelled = request_of(*pipeline, wanted, answers[3]);
  const std::atomic<bool> cancel{true};
  cancelled.cancel = &cancel;
  auto made = generate_together(
      **pipeline->decoder(), **pipeline->tokenizer(),
      {{&second, long_one}, {&third, outside}, {&fourth, cancelled}, {&first, good}});
  ASSERT_EQ(made.size(), 4u);
  ASSERT_FALSE(made[0]);
  EXPECT_THAT(made[0].error().message, HasSubstr("there is room for"));
  EXPECT_FALSE(made[1]);
  ASSERT_TRUE(made[2]);
  EXPECT_EQ(made[2]->stop_reason, StopReason::kCancelled);
  EXPECT_THAT(made[2]->ids, IsEmpty());
  answers[0].made = std::move(made[3]);
  expect_same(answers[0], expected);
}

// A generator and what it needs; the sampler stays where it is.
struct Going {
  Answer answer;
  SamplerChain sampler;
  std::unique_ptr<pipeline::Generator> generator;

  Going(
      pipeline::Pipeline& pipeline, SamplerChain chain, const Wanted& wanted,
      const std::function<void(GenerationRequest&)>& change = [](auto&) {})
      : sampler(std::move(chain)) {
    GenerationRequest request = request_of(pipeline, wanted, answer);
    change(request);
    generator = *pipeline::Generator::create(sampler, **pipeline.tokenizer(), std::move(request));
  }
};

TEST(Together, APromptComesInPiecesWhileOthersGoOn) {
  const auto pipeline = tiny_world({"context.prefill_chunk=8"});
  const std::vector<Answer> expected = alone(*pipeline);
  std::atomic<bool> cancel{false};
  const auto is_long = [](GenerationRequest& request) {
    const std::vector<int32_t> ids = request.prompt_ids;
    while (request.prompt_ids.size() < 30)
      request.prompt_ids.insert(request.prompt_ids.end(), ids.begin(), ids.end());
    request.prompt_ids.resize(30);
  };
  Going first(*pipeline, sampler_of(kWanted[0]), kWanted[0]),
      second(*pipeline, sampler_of(kWanted[1]), kWanted[1], is_long),
      third(*pipeline, sampler_of(kWanted[2]), kWanted[2], [&](GenerationRequest& request) {
        is_long(request);
        request.cancel = &cancel;
      });
  pipeline::SharedSteps steps(**pipeline->decoder());
  steps.add(*first.generator);
  steps.step();
  const size_t n_before = first.generator->ids().size();
  ASSERT_EQ(n_before, 1u);
  steps.add(*second.generator);
  steps.add(*third.generator);
  // A pass takes one id of the first and 7 of the prompts: 30 are 4 steps and 2 ids of a fifth.
  for (size_t n = 1; n <= 4; ++n) {
    steps.step();
    EXPECT_EQ(first.generator->ids().size(), n_before + n);
    EXPECT_THAT(second.generator->ids(), IsEmpty());
  }
  steps.step();
  EXPECT_EQ(second.generator->ids().size(), 1u);
  // The third has begun, and ends before its prompt does.
  cancel = true;
  steps.step();
  EXPECT_TRUE(third.generator->is_over());
  EXPECT_EQ(third.generator->generation().stop_reason, StopReason::kCancelled);
  EXPECT_THAT(third.answer.logits, IsEmpty());
  EXPECT_EQ(first.generator->ids().size(), n_before + 6);
  while (steps.step()) {
  }
  first.answer.made = first.generator->generation();
  expect_same(first.answer, expected[0]);
  EXPECT_EQ(second.generator->ids().size(), kWanted[1].max_tokens);
}

// Rows that a window evicted do not come back when a step is tried again. The model is broken for
// one id, which other prompts come to one after the other while the windows of all go round; the
// text is not looked at.
TEST(Together, WindowsLoseNoRowsWhenOthersFail) {
  constexpr int32_t kBroken = 9;
  constexpr size_t kOthers = 6;
  const std::string whole = golden_path("models/tiny-llama/model.gguf");
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "model.gguf", with_nan_embedding(whole, tiny_world({}, host(), whole)->file(), kBroken));
  for (const char* policy : {"ring", "sink_ring"}) {
    SCOPED_TRACE(policy);
    const auto pipeline =
        tiny_world({"tokenizer.path=" + tiny_world_path(), "context.length=16",
                    "context.reserve_output=1", "context.policy=" + std::string(policy),
                    "generation.ignore_end=true", "sampling.stages=" + kWanted[1].stages},
                   host(), path);
    const auto decoder = pipeline->decoder();
    ASSERT_TRUE(decoder) << decoder.error().message;
    const auto going = [&](std::optional<size_t> broken_at) {
      return std::make_unique<Going>(*pipeline, *pipeline->sampler(), kWanted[1],
                                     [&](GenerationRequest& request) {
                                       request.prompt_ids.clear();
                                       for (int32_t i = 0; i < 60; ++i)
                                         request.prompt_ids.push_back(kBroken + 1 + i % 40);
                                       if (broken_at) request.prompt_ids[*broken_at] = kBroken;
                                     });
    };
    const auto expected = going({}), good = going({});
    ASSERT_TRUE(run(**decoder, *expected->generator));
    pipeline::SharedSteps steps(**decoder);
    std::vector<std::unique_ptr<Going>> others;
    for (size_t i = 0; i < kOthers; ++i) {
      if (i == kOthers / 2) steps.add(*good->generator);
      others.push_back(going(20 + 7 * i));
      steps.add(*others.back()->generator);
    }
    while (steps.step()) {
    }
    expected->answer.made = expected->generator->generation();
    good->answer.made = good->generator->generation();
    expect_same(good->answer, expected->answer);
    for (const auto& other : others) {
      ASSERT_TRUE(other->generator->error());
      EXPECT_EQ(other->generator->error()->code, PLUMB_NUMERIC);
    }
  }
}

}  // namespace
}  // namespace plumbline::test
