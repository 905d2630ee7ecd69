// Stages that narrow.
// Oracle: golden/cases/samplers.jsonl, and naive versions of each rule that sort everything in long
// double.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <random>

#include "plumb/sdk/philox.h"
#include "tests/unit/samplers/golden_rows.h"
#include "tests/unit/samplers/stages_in_a_row.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

std::vector<StageSpec> stages_of(const json& one) {
  const json& params = one["params"];
  const auto p = [&](const char* key) { return json{{"p", params[key]}}.dump(); };
  if (one["input"]["op"] == "top_p" || one["input"]["op"] == "top_p_on_probs")
    return {{"top_p", p("top_p")}};
  if (one["input"]["op"] == "xtc") return {{"xtc", params.dump()}};
  std::vector<StageSpec> stages;
  for (const std::string stage : params["order"]) {
    stages.push_back(
        {stage, stage == "top_k" ? json{{"k", params["top_k"]}}.dump() : p(stage.c_str())});
  }
  return stages;
}

TEST(SamplerTruncation, GoldenKeptSets) {
  int n = 0;
  for (const json& one : read_jsonl(golden_path("cases/samplers.jsonl"))) {
    const std::string op = one["input"]["op"];
    if (op != "top_p" && op != "top_p_on_probs" && op != "chain" && op != "xtc") continue;
    SCOPED_TRACE(one["id"]);
    ++n;
    EXPECT_EQ(run(stages_of(one), logits_of(one["input"]["value"])).kept(),
              one["expected"]["kept"].get<std::vector<int32_t>>());
  }
  EXPECT_EQ(n, 15);
}

/// Ids by logit descending, then id ascending.
std::vector<int32_t> ranked(const std::vector<float>& logits) {
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  return ids;
}

std::vector<int32_t> in_id_order(std::vector<int32_t> ids, size_t n) {
  ids.resize(std::min(n, ids.size()));
  std::sort(ids.begin(), ids.end());
  return ids;
}

template <typename Keep>
std::vector<int32_t> ids_where(const std::vector<float>& logits, Keep keep) {
  std::vector<int32_t> ids;
  for (size_t id = 0; id < logits.size(); ++id) {
    if (keep(logits[id])) ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

/// Flat and steep ones, some with many ties, with minus infinity here and there.
std::vector<float> some_logits(std::mt19937_64& random, int round) {
  const size_t n = 1 + random() % (round % 10 == 0 ? 20000 : 600);
  const bool coarse = random() % 2 == 0;
  std::normal_distribution<float> normal(0, round % 3 == 0 ? 0.1f : 4);
  std::vector<float> logits(n);
  for (float& logit : logits) {
    logit = coarse ? std::round(normal(random)) : normal(random);
    if (random() % 20 == 0) logit = -INFINITY;
  }
  logits[random() % n] = 0.5f;
  return logits;
}

TEST(SamplerTruncation, KeptSetsEqualNaiveOnes) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    const auto logits = some_logits(random, round);
    const size_t n = logits.size();
    const auto order = ranked(logits);
    const long double largest = logits[static_cast<size_t>(order[0])];
    const auto mass = [&](int32_t id) {
      return std::exp(static_cast<long double>(logits[static_cast<size_t>(id)]) - largest);
    };
    const uint64_t min_keep = 1 + (round % 2 == 0 ? random() % 20 : 0);

    const uint64_t k = 1 + random() % (n + 2);
    EXPECT_EQ(run({{"top_k", json{{"k", k}}.dump()}}, logits).kept(), in_id_order(order, k));
    const float kth = logits[static_cast<size_t>(order[std::min<size_t>(k, n) - 1])];
    EXPECT_EQ(run({{"top_k", json{{"k", k}, {"ties", "all"}}.dump()}}, logits).kept(),
              ids_where(logits, [&](float logit) { return logit >= kth; }));

    const double p = static_cast<double>(random() % 1000) / 1000;
    long double total = 0, sum = 0;
    for (const int32_t id : order) total += mass(id);
    size_t nucleus = 0;
    bool is_close = false;  // too close to call for a sum of doubles
    do {
      sum += mass(order[nucleus++]);
      is_close = is_close || std::fabs(sum / total - p) < 1e-12L;
    } while (sum < p * total && nucleus < n);
    if (!is_close) {
      EXPECT_EQ(run({{"top_p", json{{"p", p}, {"min_keep", min_keep}}.dump()}}, logits).kept(),
                in_id_order(order, std::max<size_t>(nucleus, min_keep)));
    }

    if (p == 0) continue;
    auto above = ids_where(logits, [&](float logit) {
      return std::exp(static_cast<long double>(logit) - largest) >= p;
    });
    if (above.size() < min_keep) above = in_id_order(order, min_keep);
    EXPECT_EQ(run({{"min_p", json{{"p", p}, {"min_keep", min_keep}}.dump()}}, logits).kept(),
              above);
  }
}

// Of the paper's rule, in both readings: until the mass is at least p and all that tie with the
// last, or until it is above p.
TEST(SamplerTruncation, TypicalEqualsANaiveOne) {
  std::mt19937_64 random(3);
  int n_compared = 0;
  for (int round = 0; round < 300; ++round) {
    const auto logits = some_logits(random, round);
    const size_t n = logits.size();
    long double total = 0, h = 0;
    const long double largest = *std::max_element(logits.begin(), logits.end());
    for (const float logit : logits) total += std::exp(logit - largest);
    const auto ln_p = [&](float logit) { return logit - largest - std::log(total); };
    for (const float logit : logits) {
      if (std::isfinite(logit)) h -= std::exp(ln_p(logit)) * ln_p(logit);
    }
    const auto distance = [&](int32_t id) {
      return std::fabs(-ln_p(logits[static_cast<size_t>(id)]) - h);
    };
    std::vector<int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, distance);

    const double p = static_cast<double>(random() % 999 + 1) / 1000;
    const uint64_t min_keep = 1 + (round % 2 == 0 ? random() % 20 : 0);
    long double sum = 0;
    size_t nucleus = 0;
    bool is_close = false;
    do {
      sum += std::exp(ln_p(logits[static_cast<size_t>(order[nucleus++])]));
      is_close = is_close || std::fabs(sum - p) < 1e-12L;
    } while (sum < p && nucleus < n);
    nucleus = std::min(n, std::max<size_t>(nucleus, min_keep));
    const long double last = distance(order[nucleus - 1]);
    // Ids on either side of the entropy may be equally far, to the last bit of a double.
    for (size_t id = 0; id < n; ++id) {
      const long double apart = std::fabs(distance(static_cast<int32_t>(id)) - last);
      is_close = is_close || (apart != 0 && apart < 1e-12L);
    }
    if (is_close) continue;
    ++n_compared;
    EXPECT_EQ(
        run({{"typical", json{{"p", p}, {"min_keep", min_keep}, {"variant", "llamacpp"}}.dump()}},
            logits)
            .kept(),
        in_id_order(order, nucleus));
    size_t with_ties = nucleus;
    while (with_ties < n && distance(order[with_ties]) == last) ++with_ties;
    EXPECT_EQ(run({{"typical", json{{"p", p}, {"min_keep", min_keep}}.dump()}}, logits).kept(),
              in_id_order(order, with_ties));
  }
  EXPECT_GT(n_compared, 250);
}

TEST(SamplerTruncation, TopNSigmaEqualsANaiveOne) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 200; ++round) {
    const auto logits = some_logits(random, round);
    std::vector<long double> finite;
    for (const float logit : logits) {
      if (std::isfinite(logit)) finite.push_back(logit);
    }
    const auto n = static_cast<long double>(finite.size());
    const long double mean = std::accumulate(finite.begin(), finite.end(), 0.0L) / n;
    long double squares = 0;
    for (const long double logit : finite) squares += (logit - mean) * (logit - mean);
    const double sigmas = 0.25 * static_cast<double>(1 + random() % 16) + 0.01;
    const long double lowest =
        *std::max_element(finite.begin(), finite.end()) - sigmas * std::sqrt(squares / n);
    EXPECT_EQ(run({{"top_n_sigma", json{{"n", sigmas}}.dump()}}, logits).kept(),
              ids_where(logits, [&](float logit) { return logit >= lowest; }));
  }
}

TEST(SamplerTruncation, XtcEqualsANaiveOne) {
  std::mt19937_64 random(5);
  int n_acted = 0;
  for (int round = 0; round < 300; ++round) {
    const auto logits = some_logits(random, round);
    const auto order = ranked(logits);
    const long double largest = logits[static_cast<size_t>(order[0])];
    long double total = 0;
    for (const float logit : logits) total += std::exp(logit - largest);
    const double threshold = std::pow(10.0, -static_cast<double>(random() % 400 + 31) / 100);
    const double probability = static_cast<double>(random() % 5) / 4;
    const uint64_t min_keep = 1 + random() % 20;
    size_t n_top = 0;
    while (n_top < order.size() &&
           std::exp(logits[static_cast<size_t>(order[n_top])] - largest) / total >= threshold)
      ++n_top;
    auto expected = order;
    const Facts facts{.seed = 3, .step = static_cast<uint64_t>(round)};
    const bool acts = coin_xtc(facts.seed, facts.step) < probability && n_top > 1 &&
                      order.size() - (n_top - 1) >= min_keep;
    if (acts)
      expected.erase(expected.begin(), expected.begin() + static_cast<ptrdiff_t>(n_top - 1));
    n_acted += acts ? 1 : 0;
    const json params = {
        {"probability", probability}, {"threshold", threshold}, {"min_keep", min_keep}};
    EXPECT_EQ(run({{"xtc", params.dump()}}, logits, facts).kept(),
              in_id_order(expected, expected.size()));
  }
  EXPECT_GT(n_acted, 30);
}

TEST(SamplerTruncation, XtcNeverLeavesOnlyWhatHasNoMass) {
  const StageSpec xtc{"xtc", R"({"probability": 1, "threshold": 0})"};
  EXPECT_THAT(run({xtc}, {1, -INFINITY, 2, -INFINITY}).kept(), ElementsAre(0, 1, 3));
  EXPECT_THAT(run({xtc}, {-INFINITY, 2}).kept(), ElementsAre(0, 1));
}

TEST(SamplerTruncation, CapKeepsTheBestAndNotesItsEdge) {
  const Row cut = run({{"cap", R"({"n": 2})"}}, {1, 4, 3, 3});
  EXPECT_THAT(cut.kept(), ElementsAre(1, 2));
  EXPECT_EQ(cut.value.n_capped, 2u);
  EXPECT_EQ(cut.value.cap_edge, 2);
  const Row twice = run({{"cap", R"({"n": 3})"}, {"cap", R"({"n": 1})"}, {"cap"}}, {1, 4, 3, 3});
  EXPECT_EQ(twice.value.n_capped, 3u);
  EXPECT_EQ(twice.value.cap_edge, 1);
  const Row whole = run({{"cap"}}, {1, 4, 3, 3});
  EXPECT_EQ(whole.value.n, 4u);
  EXPECT_EQ(whole.value.n_capped, 0u);
  EXPECT_EQ(whole.value.cap_edge, -1);
}

// A host whose candidates have no such fields yet.
TEST(SamplerTruncation, CapWritesNothingBehindAnOlderStruct) {
  const Chain chain({{"cap", R"({"n": 1})"}}, 2);
  Row row({1, 2});
  row.value.struct_bytes = offsetof(plumb_candidates, n_capped);
  ASSERT_EQ(chain.apply(row), PLUMB_OK);
  EXPECT_THAT(row.kept(), ElementsAre(1));
  EXPECT_EQ(row.value.cap_edge, -1);
}

TEST(SamplerTruncation, GrammarMaskKeepsTheAllowed) {
  const std::vector<float> logits = {1, 2, -INFINITY, 4};
  EXPECT_THAT(run({{"grammar_mask"}}, logits).kept(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(run({{"grammar_mask"}}, logits, {.allowed = {0, 2}}).kept(), ElementsAre(0, 2));
  for (const std::vector<int32_t>& allowed : {std::vector<int32_t>{2}, {3}}) {
    // The best is cut away first, so that nothing allowed is left, or nothing with mass.
    const Chain chain({{"logit_bias", R"({"biases": {"3": "-inf"}})"}, {"grammar_mask"}}, 4);
    Row row(logits);
    ErrorBuffer error;
    EXPECT_EQ(chain.apply(row, Facts{.allowed = allowed}, error), PLUMB_NOT_FOUND);
    EXPECT_EQ(error.message(),
              "the grammar allows none of the 4 candidates that have mass, expected at least one");
    EXPECT_GT(row.value.n, 0u);
  }
}

TEST(SamplerTruncation, EqualLogitsLowerIdFirst) {
  EXPECT_THAT(run({{"top_k", R"({"k": 2})"}}, {1, 2, 2, 2}).kept(), ElementsAre(1, 2));
  EXPECT_THAT(run({{"top_k", R"({"k": 2, "ties": "all"})"}}, {1, 2, 2, 2}).kept(),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(run({{"typical", R"({"p": 0.5, "variant": "llamacpp"})"}}, {1, 1, 1, 1}).kept(),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(run({{"typical", R"({"p": 0.5})"}}, {1, 1, 1, 1}).kept(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(run({{"top_k", R"({"k": 1})"}}, {-1, -0.0f, 0.0f}).kept(), ElementsAre(1));
  EXPECT_THAT(run({{"top_p", R"({"p": 0.5})"}}, {1, 1, 1, 1}).kept(), ElementsAre(0, 1));
  EXPECT_THAT(run({{"min_p", R"({"p": 1})"}}, {3, 1, 3}).kept(), ElementsAre(0, 2));
  EXPECT_EQ(run({{"greedy"}}, {1, 5, 5}).value.picked, 1);
}

}  // namespace
}  // namespace plumbline::test
