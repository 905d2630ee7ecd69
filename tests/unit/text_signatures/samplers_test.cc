// Causes at door 40. Oracle: the mutant that was made, whose name is the cause, and for what no
// file can say, a side with that very thing done to it. Signatures were written with the first two
// chains at hand.
#include <algorithm>
#include <cmath>
#include <numeric>

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
  const StageConfig frequency = stage("frequency", R"({"strength": 0.6})");
  const StageConfig presence = stage("presence", R"({"strength": 0.8})");
  const StageConfig repetition = stage("repetition", R"({"theta": 1.3})");
  const auto chain = [](std::vector<StageConfig> stages) {
    SamplingConfig sampling;
    sampling.stages = std::move(stages);
    sampling.seed = 7;
    return sampling;
  };
  return {chain({min_p, heat, stage("cdf")}),
          chain({top_k, top_p, heat, stage("gumbel")}),
          chain({top_p, heat, stage("gumbel")}),
          chain({top_k, min_p, heat, stage("cdf")}),
          chain({top_p, stage("cdf")}),
          chain({min_p, top_p, heat, stage("gumbel")}),
          chain({top_k, heat, stage("cdf")}),
          chain({frequency, repetition, top_k, min_p, heat, stage("gumbel")}),
          chain({repetition, presence, top_p, heat, stage("cdf")}),
          chain({frequency, heat, top_p, stage("gumbel")}),
          chain({frequency, heat, stage("mirostat_v2", R"({"tau": 3})")}),
          chain({heat, min_p, stage("xorshift64")}),
          chain({presence, stage("greedy")})};
}

Draw draw(uint64_t step) {
  Draw made;
  made.step = step;
  made.logits.resize(kVocab);
  for (uint32_t id = 0; id < kVocab; ++id) {
    const double coin = coin_gumbel(99, step, static_cast<int32_t>(id));
    made.logits[id] = static_cast<float>(2.5 * std::log(coin / (1 - coin)));
  }
  // Some of the best, so that penalties bite; one of each part is a control token.
  std::vector<int32_t> best(kVocab);
  std::iota(best.begin(), best.end(), 0);
  std::ranges::sort(best, std::greater<>(),
                    [&](int32_t id) { return made.logits[static_cast<size_t>(id)]; });
  made.prompt_ids = {best[0], best[4], best[2], best[0], best[6]};
  made.generated_ids = {best[1], best[2], best[3], best[1], best[6]};
  made.control_bits.resize((kVocab + 63) / 64);
  for (const int32_t id : {best[2], best[6]}) {
    const auto at = static_cast<size_t>(id);
    made.control_bits[at / 64] |= uint64_t{1} << (at % 64);
  }
  return made;
}

// The draw behind `step` others, with what A's stages remember of them.
Draw draw_of(const SamplingConfig& a, uint64_t step) {
  Draw made = draw(step);
  auto chain = pipeline::make_sampler(a, host(), kVocab);
  EXPECT_TRUE(chain);
  if (!chain) return made;
  for (uint64_t before = 0; before < step; ++before) {
    const Draw earlier = draw(before);
    plumb_sample_context context = pipeline::sample_context(
        a.seed, earlier.prompt_ids, earlier.generated_ids, earlier.control_bits);
    context.step = before;
    EXPECT_TRUE(chain->pick(earlier.logits, context));
  }
  if (auto state = chain->state()) made.state = *std::move(state);
  return made;
}

diff::SamplerEvidence evidence_of(const SamplingConfig& a, const SamplingConfig& b, Draw given) {
  return diff::sampler_evidence(a, b, a, host(), {}, std::move(given));
}

// The first step at which the sides part.
std::optional<Draw> parting(const diff::SamplerEvidence& evidence) {
  for (uint64_t step = 0; step < 32; ++step) {
    Draw given = draw_of(evidence.sampling_a, step);
    const auto a = evidence.a(given);
    const auto b = evidence.b(given);
    EXPECT_TRUE(a && b) << (b ? "" : b.error().message);
    if (a && b && !is_same(*a, *b)) return given;
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
      auto given = parting(evidence);
      if (!given) continue;
      evidence.draw = *std::move(given);
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

// dry counts no repeat over a breaker: where a side has others it penalises what the other spares.
TEST(SamplerCauses, OtherBreakers) {
  SamplingConfig sampling;
  sampling.stages = {stage("dry", R"({"multiplier": 2, "allowed_length": 1})"), stage("cdf")};
  Draw given = draw(0);
  given.prompt_ids = {5, 6, 7, 8};
  given.generated_ids = {5, 6, 7};
  const auto breakers = [](const SamplingConfig& of) {
    std::vector<int32_t> ids;
    for (const std::string& id : of.breakers) ids.push_back(std::stoi(id));
    return ids;
  };
  SamplingConfig other = sampling;
  other.breakers = {"7"};
  for (const auto& [a, b] : {std::pair(sampling, other), std::pair(other, sampling)}) {
    const auto cause = diagnose_sampler(diff::sampler_evidence(a, b, a, host(), breakers, given));
    ASSERT_TRUE(cause);
    EXPECT_EQ(cause->signature, "breakers_changed");
  }
}

// A penalty that moves too little to flip a pick of the probes shows in what is left.
TEST(SamplerCauses, AChangeThatFlipsNoPick) {
  const SamplingConfig a = chains()[9];
  SamplingConfig b = a;
  b.stages[0].params_json = R"({"strength": 0.6, "control_tokens": "penalise"})";
  Draw flat = draw(0);
  std::ranges::fill(flat.logits, 0.0F);
  const auto cause = diagnose_sampler(evidence_of(a, b, flat));
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->signature, "control_tokens_penalised");
}

TEST(SamplerCauses, TheHigherOfTwoEquals) {
  SamplingConfig sampling;
  sampling.stages = {stage("greedy")};
  Draw tied = draw(0);
  tied.logits[20] = tied.logits[200] = 50;
  const auto last_of_equals = [](const Draw& given) -> Result<Drawn> {
    Drawn drawn{0, diff::Left::of(given.logits)};
    for (uint32_t id = 0; id < given.logits.size(); ++id) {
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
    return drawn ? drawn->left.ids.size() : 0;
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
