// The figures of a quantisation report. Oracles: NumPy's figures from the same logits
// (golden/perplexity), and sums in long double.
#include "core/diff/quantisation.h"

#include <cmath>
#include <limits>
#include <random>

#include "tests/support/model_harness.h"

namespace plumbline::diff {
namespace {

using Json = nlohmann::ordered_json;

// f64 sums of a few thousand terms, in two orders: 1e-13 of the terms, which are up to a thousand
// times the sums that are compared.
constexpr double kRelative = 1e-9;

std::vector<Scored> score_golden(const Json& figures) {
  const std::string folder = test::golden_folder(figures.at("model"));
  const float steps = figures.at("steps");
  const std::vector<std::string> names = figures.at("chunks");
  std::vector<Scored> rows;
  RowScorer scorer;
  for (const test::GoldenCase& one : test::read_cases(folder + "/cases.jsonl")) {
    const auto name = std::find(names.begin(), names.end(), one.name);
    if (name == names.end()) continue;
    const NpyArray logits = test::read_npy(folder + "/logits-" + one.name + ".npy");
    const size_t n = one.ids.size(), width = logits.shape.at(1);
    for (size_t row = n / 2; row + 1 < n; ++row) {
      const std::span<const float> a(logits.values.data() + row * width, width);
      std::vector<float> b(a.begin(), a.end());
      for (float& value : b) value = std::nearbyint(value * steps) / steps;
      const auto score = scorer.score_pair(a, b, one.ids[row + 1]);
      EXPECT_TRUE(score);
      rows.push_back({static_cast<uint32_t>(name - names.begin()), *score});
    }
  }
  return rows;
}

void expect_near(const Json& ours, const Json& golden, const std::string& where) {
  if (golden.is_object()) {
    for (const auto& [key, value] : golden.items()) {
      ASSERT_TRUE(ours.contains(key)) << where << "." << key;
      expect_near(ours[key], value, where + "." + key);
    }
  } else if (golden.is_array()) {
    ASSERT_EQ(ours.size(), golden.size()) << where;
    for (size_t i = 0; i < golden.size(); ++i)
      expect_near(ours[i], golden[i], where + "." + std::to_string(i));
  } else {
    const double expected = golden;
    EXPECT_NEAR(ours.get<double>(), expected, kRelative * std::max(1e-3, std::abs(expected)))
        << where;
  }
}

TEST(Quantisation, FiguresAreThoseOfNumpy) {
  std::ifstream file(PLUMB_SOURCE_DIR "/golden/perplexity/figures.jsonl");
  size_t n_cases = 0;
  for (std::string line; std::getline(file, line); ++n_cases) {
    Json figures = Json::parse(line);
    SCOPED_TRACE(figures["model"].get<std::string>() + " " + figures["steps"].dump());
    const std::vector<Scored> rows = score_golden(figures);
    const TextScores scores = summarise(rows, true, 0, figures["n_bytes"]);
    for (const char* key : {"model", "steps", "chunks"}) figures.erase(key);
    expect_near(to_json(scores), figures, "");
  }
  EXPECT_EQ(n_cases, 3u);
}

TEST(Quantisation, OneSideHasNoCostAndOneChunkNoErrorByChunk) {
  RowScorer scorer;
  const std::vector<float> logits = {1, 2, 3};
  std::vector<Scored> rows;
  for (const int32_t id : {0, 2}) rows.push_back({0, {*scorer.score(logits, id), {}, 0, 0}});
  const Json json = Json::parse(to_json(summarise(rows, false, 4, 7)).dump());
  EXPECT_FALSE(json.contains("kl"));
  EXPECT_TRUE(json["a"]["perplexity"]["error"].is_null());
  EXPECT_TRUE(json["a"]["perplexity"]["error_of_ids"].is_number());
  EXPECT_EQ(json["n_chunks"], 1);
}

TEST(Quantisation, AModelAgainstItselfCostsNothingAtAll) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 4);
  std::vector<float> logits(1000);
  std::vector<Scored> rows;
  RowScorer scorer;
  for (uint32_t row = 0; row < 6; ++row) {
    for (float& value : logits) value = normal(random);
    rows.push_back({row / 2, *scorer.score_pair(logits, logits, static_cast<int32_t>(row))});
  }
  const TextScores scores = summarise(rows, true, 4, 10);
  EXPECT_EQ(scores.cost->kl.value, 0);
  EXPECT_EQ(scores.cost->kl.error, 0);
  EXPECT_EQ(scores.cost->delta_p_rms.value, 0);
  EXPECT_EQ(scores.cost->delta_p_rms.error, 0);
  EXPECT_EQ(scores.cost->ratio.value, 1);
  EXPECT_EQ(scores.cost->same_top.value, 1);
  EXPECT_NEAR(scores.cost->correlation, 1, 1e-12);
}

TEST(RowScorer, AgreesWithLongDouble) {
  std::mt19937 random(9);
  RowScorer scorer;
  for (const size_t n : {1u, 2u, 3u, 7u, 8u, 1001u, 4096u}) {
    for (const float spread : {0.01f, 5.0f, 300.0f}) {
      std::normal_distribution<float> normal(0, spread);
      std::vector<float> a(n), b(n);
      for (size_t i = 0; i < n; ++i) {
        a[i] = normal(random);
        b[i] = a[i] + 0.1f * normal(random);
      }
      const auto log_sum = [](const std::vector<float>& row) {
        const long double largest = *std::max_element(row.begin(), row.end());
        long double sum = 0;
        for (const float value : row) sum += std::exp(value - largest);
        return largest + std::log(sum);
      };
      const long double log_a = log_sum(a), log_b = log_sum(b);
      long double kl = 0;
      for (size_t i = 0; i < n; ++i)
        kl += std::exp(a[i] - log_a) * ((static_cast<long double>(a[i]) - b[i]) - (log_a - log_b));
      const size_t id = n / 2;
      const auto ours = scorer.score_pair(a, b, static_cast<int32_t>(id));
      ASSERT_TRUE(ours);
      const auto near = [&](double value, long double expected) {
        EXPECT_NEAR(value, static_cast<double>(expected),
                    1e-13 * std::max(1.0, std::abs(static_cast<double>(expected))));
      };
      near(ours->a.nll, log_a - a[id]);
      near(ours->b.nll, log_b - b[id]);
      near(ours->kl, kl);
      EXPECT_EQ(ours->a.top, test::argmax(a));
      EXPECT_EQ(ours->b.top, test::argmax(b));
    }
  }
}

TEST(RowsScorer, RefusesRowsThatDoNotFit) {
  ThreadPool pool(1);
  RowsScorer scorer(pool);
  const std::vector<float> rows(6, 0.5f);
  const std::vector<int32_t> next = {0, 2};
  std::vector<Scored> scored;
  EXPECT_TRUE(scorer.score(rows, rows, {}, 0, scored));
  EXPECT_TRUE(scorer.score(rows, {}, next, 0, scored));
  EXPECT_EQ(scored.size(), 2u);
  const std::span<const float> all = rows;
  const auto refuses = [&](std::span<const float> a, std::span<const float> b,
                           const std::vector<int32_t>& ids) {
    const auto done = scorer.score(a, b, ids, 0, scored);
    return !done && done.error().code == PLUMB_INCOMPATIBLE;
  };
  EXPECT_TRUE(refuses(all, all.first(4), next));
  EXPECT_TRUE(refuses(all.first(4), all, next));
  EXPECT_TRUE(refuses(all.first(5), {}, next));
  EXPECT_TRUE(refuses(all.first(0), {}, next));
  EXPECT_TRUE(refuses(all, all, {0, 3}));
  EXPECT_TRUE(refuses(all, all, {-1, 0}));
  EXPECT_EQ(scored.size(), 2u);
}

TEST(RowScorer, TakesExtremesAndRefusesWhatIsNotFinite) {
  RowScorer scorer;
  const float inf = std::numeric_limits<float>::infinity();
  const auto far = scorer.score(std::vector<float>{3e38f, -3e38f, 0}, 0);
  ASSERT_TRUE(far);
  EXPECT_EQ(far->nll, 0);
  EXPECT_EQ(far->p, 1);
  EXPECT_FALSE(scorer.score(std::vector<float>{0, inf, 0}, 0));
  EXPECT_FALSE(scorer.score(std::vector<float>{0, std::nanf(""), 0}, 0));
  EXPECT_FALSE(scorer.score(std::vector<float>{-inf, 0, 0}, 0));
  EXPECT_FALSE(scorer.score_pair(std::vector<float>{0, 0, 0}, std::vector<float>{0, -inf, 0}, 0));
}

}  // namespace
}  // namespace plumbline::diff
