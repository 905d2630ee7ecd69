// Stages against those of transformers and llama.cpp, step by step, on real and made rows.
// Oracle: golden/samplers, made by these programs (golden/generate/sampler_golden.py). What is left
// must be the same ids but for the edge tokens that the golden data lists; a probability may differ
// by 1e-6, absolute, which is what logits of up to 32 rounded to f32 at other places of the chain
// can move one: p (1 - p) <= 1/4, times two halves of 2^-19.
#include <algorithm>
#include <map>
#include <set>

#include "core/hash/sha256.h"
#include "tests/differential/sampler_rows.h"

namespace plumbline::test {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-6;

StageSpec to_spec(const json& stage) {
  const auto item = stage.items().begin();
  return {item.key(), item.value().dump()};
}

/// The ids that have mass, ascending.
std::vector<int32_t> with_mass(const plumb_candidates& candidates) {
  std::vector<int32_t> ids;
  for (uint32_t i = 0; i < candidates.n; ++i) {
    if (candidates.logits[i] > -INFINITY) ids.push_back(candidates.ids[i]);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// The ids with the edge tokens as the reference has them.
std::vector<int32_t> with_edges_of(const std::vector<int32_t>& ids, const json& record) {
  if (!record.contains("edge")) return ids;
  std::set<int32_t> all(ids.begin(), ids.end());
  for (const int32_t id : record["edge"]["kept"]) all.insert(id);
  for (const int32_t id : record["edge"]["gone"]) all.erase(id);
  return {all.begin(), all.end()};
}

std::string hash_of(const std::vector<int32_t>& ids) {
  const auto* bytes = reinterpret_cast<const char*>(ids.data());
  return sha256_of({bytes, ids.size() * sizeof(int32_t)}).substr(0, 16);
}

/// Compares what is left with a record; false where the two differ in an edge token.
bool expect_left(const plumb_candidates& candidates, const json& record) {
  std::vector<int32_t> ids = with_mass(candidates);
  if (candidates.picked >= 0) ids = {candidates.picked};
  const std::vector<int32_t> expected = with_edges_of(ids, record);
  EXPECT_EQ(expected.size(), record["n"].get<size_t>());
  if (record.contains("ids")) {
    EXPECT_EQ(expected, record["ids"].get<std::vector<int32_t>>());
  } else {
    EXPECT_EQ(hash_of(expected), record["sha256"]);
  }
  if (expected != ids) return false;
  if (candidates.picked >= 0) return true;

  double total = 0;
  const float largest = *std::max_element(candidates.logits, candidates.logits + candidates.n);
  std::map<int32_t, double> weights;
  for (uint32_t i = 0; i < candidates.n; ++i) {
    const double weight = std::exp(static_cast<double>(candidates.logits[i]) - largest);
    weights[candidates.ids[i]] = weight;
    total += weight;
  }
  for (const json& one : record["p"]) {
    EXPECT_NEAR(weights[one[0].get<int32_t>()] / total, one[1].get<double>(), kTolerance)
        << "id " << one[0];
  }
  return true;
}

/// Runs every case of a file; returns how many parameter sets it held.
size_t run_cases(const std::string& file) {
  std::set<std::string> parameter_sets;
  for (const json& one : read_jsonl(golden_path("samplers/" + file))) {
    const SamplerRow& input = sampler_rows().at(one["row"]);
    const std::vector<float>& logits = input.logits;
    const Facts& history = input.histories.at(one["history"]);
    json stages = json::array();
    for (const json& step : one["steps"]) {
      for (const json& stage : step["stages"]) stages.push_back(stage);
    }
    parameter_sets.insert(stages.dump());
    SCOPED_TRACE(one["row"].dump() + " " + stages.dump());
    Row row(logits);
    for (const json& step : one["steps"]) {
      std::vector<StageSpec> specs;
      for (const json& stage : step["stages"]) specs.push_back(to_spec(stage));
      SCOPED_TRACE(step["stages"].dump());
      const Chain chain(specs, static_cast<uint32_t>(logits.size()));
      ErrorBuffer error;
      EXPECT_EQ(chain.apply(row, history, error), PLUMB_OK) << error.message();
      if (!expect_left(row.value, step)) break;
    }
    if (::testing::Test::HasFailure()) break;
  }
  return parameter_sets.size();
}

TEST(SamplerReferences, Transformers) {
  EXPECT_EQ(run_cases("transformers.jsonl"), 614u);
}

TEST(SamplerReferences, LlamaCpp) {
  EXPECT_EQ(run_cases("llama_cpp.jsonl"), 1118u);
}

/// Its coin is llama.cpp's own: a seed is looked for under which ours picks the same.
TEST(SamplerReferences, MirostatOfLlamaCpp) {
  for (const json& one : read_jsonl(golden_path("samplers/mirostat.jsonl"))) {
    const std::string params = json{{"tau", one["tau"]}, {"eta", one["eta"]}}.dump();
    double mu = 2 * one["tau"].get<double>();
    for (const json& step : one["steps"]) {
      SCOPED_TRACE(step["row"].dump() + " " + params);
      const std::vector<float>& logits = sampler_rows().at(step["row"]).logits;
      const Chain chain({{"mirostat_v2", params}}, static_cast<uint32_t>(logits.size()));
      Facts facts{.seed = 0, .step = 1};
      int32_t picked = -1;
      double after = 0;
      for (; picked != step["pick"] && facts.seed < 20000; ++facts.seed) {
        ASSERT_EQ(Chain::table().state_set(chain.stage(0), &mu, nullptr), PLUMB_OK);
        Row row(logits);
        ASSERT_EQ(chain.apply(row, facts), PLUMB_OK);
        picked = std::exchange(row.value.picked, -1);
        ASSERT_EQ(Chain::table().state_get(chain.stage(0), &after, nullptr), PLUMB_OK);
        if (facts.seed == 0) {
          EXPECT_TRUE(expect_left(row.value, step));
        }
      }
      ASSERT_EQ(picked, step["pick"]);
      mu = step["mu"];
      EXPECT_NEAR(after, mu, kTolerance);
    }
  }
}

}  // namespace
}  // namespace plumbline::test
