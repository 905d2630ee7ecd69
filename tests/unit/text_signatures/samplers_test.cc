// Causes at door 40. Oracle: the mutant that was made, whose name is the cause, and for what no
// file can say, a side with that very thing done to it. Signatures were written with the first two
// chains at hand.
#include <cmath>

#include "plumb/sdk/philox.h"
#include "tests/support/mutants.h"
#include "tests/unit/text_signatures/text_pipelines.h"

namespace plumbline::test {
namespace {

using config::SamplingConfig;
using config::StageConfig;
using diff::Draw;
using diff::Drawn;

constexpr uint32_t kVocab = 300;
constexpr size_t kDesignChains = 2;

StageConfig stage(const char* name, const char* params = "{}") {
  return {name, config::kAuto, params};
}

std::vector<SamplingConfig> chains() {
  const StageConfig min_p = stage("min_p", R"({"p": 0.05})");
  const StageConfig top_p = stage("top_p", R"({"p": 0.9})");
  const StageConfig top_k = stage("top_k", R"({"k": 40})");
  const StageConfig heat = stage("temperature", R"({"t": 0.7})");
  const auto chain = [](std::vector<StageConfig> stages) {
    SamplingConfig sampling;
    sampling.stages = std::move(stages);
    sampling.seed = 7;
    return sampling;
  };
  return {chain({min_p, heat, stage("cdf")}),    chain({top_k, top_p, heat, stage("gumbel")}),
          chain({top_p, heat, stage("gumbel")}), chain({top_k, min_p, heat, stage("cdf")}),
          chain({top_p, stage("cdf")}),          chain({min_p, top_p, heat, stage("gumbel")}),
          chain({top_k, heat, stage("cdf")})};
}

Draw draw(uint64_t step) {
  Draw made;
  made.step = step;
  made.logits.resize(kVocab);
  for (uint32_t id = 0; id < kVocab; ++id) {
    const double coin = coin_gumbel(99, step, static_cast<int32_t>(id));
    made.logits[id] = static_cast<float>(2.5 * std::log(coin / (1 - coin)));
  }
  return made;
}

diff::SamplerEvidence evidence_of(const SamplingConfig& a, const SamplingConfig& b, Draw given) {
  return diff::sampler_evidence(a, b, host(), std::move(given));
}

// The first step at which the sides part.
std::optional<uint64_t> parting(const diff::SamplerEvidence& evidence) {
  for (uint64_t step = 0; step < 64; ++step) {
    const auto a = evidence.a(draw(step));
    const auto b = evidence.b(draw(step));
    if (a && b && *a != *b) return step;
  }
  return std::nullopt;
}

Score diagnose_mutants(size_t first, size_t end) {
  Score score;
  for (size_t chain = first; chain < end; ++chain) {
    const SamplingConfig whole = chains()[chain];
    for (const SamplingMutant& mutant : sampling_mutants()) {
      SamplingConfig broken = whole;
      if (!mutant.apply(broken)) continue;
      diff::SamplerEvidence evidence = evidence_of(whole, broken, draw(0));
      const auto step = parting(evidence);
      if (!step) continue;
      evidence.draw = draw(*step);
      score.count("chain " + std::to_string(chain) + ", " + mutant.how, mutant.cause,
                  diagnose_sampler(evidence));
    }
  }
  return score;
}

TEST(SamplerCauses, AreNamedWhereTheyWereWritten) {
  const Score score = diagnose_mutants(0, kDesignChains);
  EXPECT_EQ(score.n_wrong + score.n_unknown, 0) << score;
  EXPECT_GE(score.n_right, 15) << score;
}

TEST(SamplerCauses, AreNamedOnChainsThatWereHeldOut) {
  const Score score = diagnose_mutants(kDesignChains, chains().size());
  EXPECT_EQ(score.n_wrong, 0) << score;
  EXPECT_GE(score.n_right, 35) << score;
}

// What B does with a draw, done by hand to A's own side.
void expect_cause(const char* wanted, const SamplingConfig& sampling, const diff::SamplerSide& b,
                  Draw given) {
  diff::SamplerEvidence evidence = evidence_of(sampling, sampling, std::move(given));
  evidence.b = b;
  const auto cause = diagnose_sampler(evidence);
  ASSERT_TRUE(cause) << wanted;
  EXPECT_EQ(cause->signature, wanted);
}

TEST(SamplerCauses, CoinsOfTheNextStep) {
  const SamplingConfig sampling = chains()[2];
  const diff::SamplerSide a = evidence_of(sampling, sampling, draw(0)).a;
  expect_cause(
      "coin_keyed_differently", sampling,
      [a](Draw given) {
        ++given.step;
        return a(given);
      },
      draw(1));
}

TEST(SamplerCauses, TheHigherOfTwoEquals) {
  SamplingConfig sampling;
  sampling.stages = {stage("greedy")};
  Draw tied = draw(0);
  tied.logits[20] = tied.logits[200] = 50;
  const auto last_of_equals = [](const Draw& given) -> Result<Drawn> {
    Drawn drawn{0, {}};
    for (uint32_t id = 0; id < given.logits.size(); ++id) {
      drawn.kept.push_back(static_cast<int32_t>(id));
      if (given.logits[id] >= given.logits[static_cast<size_t>(drawn.id)])
        drawn.id = static_cast<int32_t>(id);
    }
    return drawn;
  };
  expect_cause("tie_break_changed", sampling, last_of_equals, tied);
}

// A temperature in front of a truncation moves its threshold: how many candidates min_p leaves
// depends on the temperature, and behind it does not. Oracle: min_p's own rule, on the
// probabilities.
TEST(SamplerCauses, TemperatureBeforeTruncationMakesTheThresholdUnstable) {
  const auto n_kept = [](bool heats_first, const char* temperature) {
    SamplingConfig sampling;
    const StageConfig heat = stage("temperature", temperature);
    const StageConfig min_p = stage("min_p", R"({"p": 0.05})");
    sampling.stages = heats_first ? std::vector{heat, min_p} : std::vector{min_p, heat};
    sampling.stages.push_back(stage("cdf"));
    const auto drawn = evidence_of(sampling, sampling, draw(3)).a(draw(3));
    EXPECT_TRUE(drawn);
    return drawn ? drawn->kept.size() : 0;
  };
  const std::vector<float> logits = draw(3).logits;
  const float largest = *std::ranges::max_element(logits);
  const auto n_expected = [&](double temperature) {
    return static_cast<size_t>(std::ranges::count_if(logits, [&](float logit) {
      return std::exp((double{logit} - largest) / temperature) >= 0.05;
    }));
  };
  for (const char* temperature : {R"({"t": 0.5})", R"({"t": 1.0})", R"({"t": 2.0})"})
    EXPECT_EQ(n_kept(false, temperature), n_expected(1));
  EXPECT_EQ(n_kept(true, R"({"t": 0.5})"), n_expected(0.5));
  EXPECT_EQ(n_kept(true, R"({"t": 2.0})"), n_expected(2));
  EXPECT_LT(n_expected(0.5), n_expected(1));
  EXPECT_LT(n_expected(1), n_expected(2));
}

}  // namespace
}  // namespace plumbline::test
