// Several answers in steps that they share. Oracle: each of them alone.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>

#include "core/pipeline/shared_steps.h"
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

}  // namespace
}  // namespace plumbline::test
