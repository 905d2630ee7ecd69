// Draws. Oracle: naive versions in long double with the C library's exp and log, the definition of
// the distribution (chi-square), and the coins of sdk/philox.h.
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "plugins/samplers/core/mass.h"
#include "plumb/sdk/math.h"
#include "plumb/sdk/philox.h"
#include "tests/unit/samplers/stages_in_a_row.h"

namespace plumbline::test {
namespace {

std::vector<float> normal_logits(size_t n, float deviation, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> logits(n);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

std::vector<long double> shares(const std::vector<float>& logits) {
  std::vector<long double> out;
  const long double largest = *std::max_element(logits.begin(), logits.end());
  for (const float logit : logits) out.push_back(std::exp(logit - largest));
  const long double total = std::accumulate(out.begin(), out.end(), 0.0L);
  for (long double& share : out) share /= total;
  return out;
}

// Oracle: the C library's e^x in 80 bits.
TEST(SamplerDraws, MassIsTheExponential) {
  constexpr double kUlps = 1.1;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> deep(-700, 0), near(-20, 0);
  for (int i = 0; i < 100000; ++i) {
    for (const double x : {deep(random), near(random)}) {
      const long double expected = std::exp(static_cast<long double>(x));
      const double ulp = std::ldexp(1.0, std::ilogb(expected) - 52);
      ASSERT_LE(std::fabs(samplers::core::mass_at(x) - expected), kUlps * ulp) << x;
    }
  }
  for (const double x : {0.0, -0.0, -0x1p-1074}) EXPECT_EQ(samplers::core::mass_at(x), 1);
  for (const double x : {-700.0001, -1e300, -HUGE_VAL}) EXPECT_EQ(samplers::core::mass_at(x), 0);
}

TEST(SamplerDraws, CdfEqualsANaiveOne) {
  for (const float deviation : {0.1f, 3.0f, 30.0f}) {
    auto logits = normal_logits(2000, deviation, 3);
    logits[7] = -INFINITY;
    const auto p = shares(logits);
    const Chain chain({{"cdf"}}, 2000);
    for (uint64_t step = 0; step < 300; ++step) {
      Row row(logits);
      ASSERT_EQ(chain.apply(row, 9, step), PLUMB_OK);
      size_t id = 0;
      for (long double sum = p[0]; sum <= coin_cdf(9, step); sum += p[id]) ++id;
      ASSERT_EQ(row.value.picked, static_cast<int32_t>(id));
      EXPECT_EQ(row.value.coin, coin_cdf(9, step));
      EXPECT_NEAR(row.value.probability, static_cast<double>(p[id]), 1e-14);
    }
  }
}

TEST(SamplerDraws, GumbelEqualsANaiveOne) {
  for (const float deviation : {0.1f, 3.0f, 30.0f}) {
    auto logits = normal_logits(2000, deviation, 4);
    logits[7] = -INFINITY;
    const auto p = shares(logits);
    const Chain chain({{"gumbel"}}, 2000);
    for (uint64_t step = 0; step < 300; ++step) {
      Row row(logits);
      ASSERT_EQ(chain.apply(row, 9, step), PLUMB_OK);
      size_t best = 0;
      long double best_score = -INFINITY;
      for (size_t id = 0; id < logits.size(); ++id) {
        const long double coin = coin_gumbel(9, step, static_cast<int32_t>(id));
        const long double score = logits[id] - std::log(-std::log(coin));
        if (score > best_score) best = id, best_score = score;
      }
      ASSERT_EQ(row.value.picked, static_cast<int32_t>(best));
      EXPECT_EQ(row.value.coin, coin_gumbel(9, step, static_cast<int32_t>(best)));
      EXPECT_NEAR(row.value.probability, static_cast<double>(p[best]), 1e-14);
    }
  }
}

double inverse_cdf_pick(const std::vector<long double>& p, long double coin) {
  size_t id = 0;
  for (long double sum = p[0]; sum <= coin; sum += p[id]) ++id;
  return static_cast<double>(id);
}

// Seed 1 gives 1082269761, 1152992998833853505, 11177516664432764457, 17678023832001937445: the
// figures that implementations of these shifts agree on.
TEST(SamplerDraws, Xorshift64EqualsANaiveOne) {
  auto logits = normal_logits(500, 3, 9);
  const auto p = shares(logits);
  for (const uint64_t seed : {uint64_t{1}, uint64_t{0}, UINT64_MAX}) {
    const Chain chain({{"xorshift64"}}, 500);
    uint64_t x = seed == 0 ? 0x9E3779B97F4A7C15 : seed;
    for (uint64_t step = 0; step < 200; ++step) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      if (seed == 1 && step == 3) {
        EXPECT_EQ(x, 17678023832001937445u);
      }
      const double coin = std::ldexp(static_cast<double>(x >> 40), -24);
      Row row(logits);
      ASSERT_EQ(chain.apply(row, seed, step), PLUMB_OK);
      EXPECT_EQ(row.value.coin, coin);
      EXPECT_EQ(row.value.picked, inverse_cdf_pick(p, coin));
    }
  }
}

// Algorithm 2 of the paper, with the coins of cdf: surprise in bits, of what is left.
TEST(SamplerDraws, MirostatEqualsANaiveOne) {
  for (const double tau : {0.5, 3.0, 8.0}) {
    const Chain chain({{"mirostat_v2", "{\"tau\": " + std::to_string(tau) + ", \"eta\": 0.3}"}},
                      800);
    long double mu = 2 * tau;
    double bits = 0;
    for (uint64_t step = 0; step < 300; ++step) {
      const auto logits = normal_logits(800, step % 2 == 0 ? 2 : 0.5f, 20 + step);
      auto p = shares(logits);
      const auto best = std::max_element(p.begin(), p.end()) - p.begin();
      long double left = 0;
      std::vector<int32_t> kept;
      for (size_t id = 0; id < p.size(); ++id) {
        if (-std::log2(p[id]) > mu && static_cast<ptrdiff_t>(id) != best) p[id] = 0;
        if (p[id] > 0) kept.push_back(static_cast<int32_t>(id));
        left += p[id];
      }
      for (long double& share : p) share /= left;
      const double id = inverse_cdf_pick(p, coin_cdf(9, step));
      const long double surprise = -std::log2(p[static_cast<size_t>(id)]);
      mu -= 0.3L * (surprise - tau);
      bits += static_cast<double>(surprise);

      Row row(logits);
      ASSERT_EQ(chain.apply(row, 9, step), PLUMB_OK);
      ASSERT_EQ(row.value.picked, id) << step;
      EXPECT_EQ(row.kept(), kept);
      double own = 0;
      ASSERT_EQ(Chain::table().state_get(chain.stage(0), &own, nullptr), PLUMB_OK);
      EXPECT_NEAR(own, static_cast<double>(mu), 1e-10);
    }
    EXPECT_NEAR(bits / 300, tau, 0.3) << "what the rule is for";
  }
}

TEST(SamplerDraws, StateGoesOnWhereItWasTaken) {
  for (const char* draw : {"xorshift64", "mirostat_v2"}) {
    const auto& table = Chain::table();
    const Chain whole({{draw}}, 300), begun({{draw}}, 300), resumed({{draw}}, 300);
    ASSERT_EQ(table.state_bytes(whole.stage(0)), 8u);
    std::vector<char> state(8);
    for (uint64_t step = 0; step < 40; ++step) {
      const auto logits = normal_logits(300, 3, 40 + step);
      Row expected(logits), row(logits);
      ASSERT_EQ(whole.apply(expected, 5, step), PLUMB_OK);
      ASSERT_EQ((step < 20 ? begun : resumed).apply(row, 5, step), PLUMB_OK);
      EXPECT_EQ(row.value.picked, expected.value.picked) << draw << " step " << step;
      EXPECT_EQ(row.value.coin, expected.value.coin);
      if (step != 19) continue;
      ASSERT_EQ(table.state_get(begun.stage(0), state.data(), nullptr), PLUMB_OK);
      ASSERT_EQ(table.state_set(resumed.stage(0), state.data(), nullptr), PLUMB_OK);
    }
    // Step 0 begins afresh, whatever was before.
    const auto logits = normal_logits(300, 3, 40);
    Row first(logits), again(logits);
    ASSERT_EQ(Chain({{draw}}, 300).apply(first, 5, 0), PLUMB_OK);
    ASSERT_EQ(whole.apply(again, 5, 0), PLUMB_OK);
    EXPECT_EQ(again.value.picked, first.value.picked);
    EXPECT_EQ(again.kept(), first.kept());
  }
  const Chain mirostat({{"mirostat_v2"}, {"greedy"}}, 2);
  for (const double mu : {std::nan(""), HUGE_VAL, 1e300}) {
    EXPECT_EQ(Chain::table().state_set(mirostat.stage(0), &mu, nullptr), PLUMB_INVALID_ARGUMENT);
  }
  EXPECT_EQ(Chain::table().state_bytes(mirostat.stage(1)), 0u);
}

TEST(SamplerDraws, FollowTheDistribution) {
  const auto logits = normal_logits(16, 1.5f, 5);
  const auto p = shares(logits);
  constexpr int kDraws = 40000;
  for (const char* draw : {"cdf", "gumbel", "xorshift64"}) {
    const Chain chain({{draw}}, 16);
    std::vector<int> seen(16);
    for (uint64_t step = 0; step < kDraws; ++step) {
      Row row(logits);
      ASSERT_EQ(chain.apply(row, 17, step), PLUMB_OK);
      ++seen[static_cast<size_t>(row.value.picked)];
    }
    long double chi_square = 0;
    for (size_t id = 0; id < 16; ++id) {
      const long double expected = p[id] * kDraws;
      ASSERT_GT(expected, 5) << "the test wants larger cells";
      chi_square += (seen[id] - expected) * (seen[id] - expected) / expected;
    }
    // 15 degrees of freedom: 37.7 is exceeded with probability 0.001 (chi-square table).
    EXPECT_LT(chi_square, 37.7) << draw;
  }
}

TEST(SamplerDraws, UnderOneCoinGumbelFlipsFarLess) {
  const auto logits = normal_logits(1000, 2, 6);
  auto perturbed = logits;
  const auto noise = normal_logits(1000, 0.02f, 7);
  for (size_t i = 0; i < logits.size(); ++i) perturbed[i] += noise[i];
  int flips[2] = {};
  const char* draws[] = {"cdf", "gumbel"};
  for (int i = 0; i < 2; ++i) {
    const Chain chain({{draws[i]}}, 1000);
    for (uint64_t step = 0; step < 2000; ++step) {
      Row a(logits), b(perturbed);
      ASSERT_EQ(chain.apply(a, 1, step), PLUMB_OK);
      ASSERT_EQ(chain.apply(b, 1, step), PLUMB_OK);
      flips[i] += a.value.picked != b.value.picked ? 1 : 0;
    }
  }
  EXPECT_GT(flips[0], 0);
  EXPECT_LT(3 * flips[1], flips[0]) << flips[1] << " against " << flips[0];
}

TEST(SamplerDraws, DoNotDependOnHowCandidatesLie) {
  const auto logits = normal_logits(500, 3, 8);
  for (const char* draw : {"greedy", "cdf", "gumbel", "xorshift64", "mirostat_v2"}) {
    const std::vector<StageSpec> stages = {{"repetition", R"({"theta": 1.1})"},
                                           {"dry", R"({"multiplier": 0.5})"},
                                           {"logit_bias", R"({"biases": {"3": 2}})"},
                                           {"temperature", R"({"t": 1.3})"},
                                           {"typical", R"({"p": 0.95})"},
                                           {"top_p", R"({"p": 0.9})"},
                                           {draw}};
    const Chain chain(stages, 500), other(stages, 500);  // each with its own state
    for (uint64_t step = 0; step < 100; ++step) {
      Row by_id(logits);
      const Facts facts{.seed = 2, .step = step, .prompt = {1, 2, 3, 1, 2}};
      ASSERT_EQ(chain.apply(by_id, facts), PLUMB_OK);

      Row by_logit(logits);
      std::ranges::sort(by_logit.ids(), std::greater<>(),
                        [&](int32_t id) { return logits[static_cast<size_t>(id)]; });
      for (size_t i = 0; i < logits.size(); ++i)
        by_logit.value.logits[i] = logits[static_cast<size_t>(by_logit.ids()[i])];
      by_logit.value.order = PLUMB_ORDER_LOGIT;
      ASSERT_EQ(other.apply(by_logit, facts), PLUMB_OK);
      EXPECT_EQ(by_id.value.picked, by_logit.value.picked) << draw << " step " << step;
    }
  }
}

TEST(SamplerDraws, OneCandidateIsCertain) {
  for (const char* draw : {"cdf", "gumbel", "xorshift64", "mirostat_v2"}) {
    const Row row = run({{draw}}, {-3});
    EXPECT_EQ(row.value.picked, 0);
    EXPECT_EQ(row.value.probability, 1);
  }
}

TEST(SamplerDraws, ScriptSpeaksFirst) {
  const Chain ends({{"scripted", R"({"ids": [3, 1]})"}, {"greedy"}}, 5);
  const Chain draws({{"scripted", R"({"ids": [3, 1], "then": "draw"})"}, {"greedy"}}, 5);
  for (const uint64_t step : {0, 1, 2, 3}) {
    Row first({0, 0, 9, NAN, 0}), second({0, 0, 9, 0, 0});
    ErrorBuffer error;
    const auto status = ends.apply(first, 0, step, error);
    ASSERT_EQ(draws.apply(second, 0, step), PLUMB_OK);
    EXPECT_EQ(second.value.picked, step == 0 ? 3 : step == 1 ? 1 : 2);
    EXPECT_TRUE(std::isnan(second.value.coin));
    if (step < 2) {
      EXPECT_EQ(status, PLUMB_OK);
      EXPECT_EQ(first.value.picked, second.value.picked);
    } else {
      EXPECT_EQ(status, PLUMB_CANCELLED);
      EXPECT_EQ(error.message(), "the script of 2 ids ended");
    }
  }
}

}  // namespace
}  // namespace plumbline::test
