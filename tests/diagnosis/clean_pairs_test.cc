// clean_pairs_test: pairs without a fault, most of them of other arithmetic, on prompts that no
// level was measured on: nothing may be called WRONG or UNEXPLAINED. Oracle: both sides are
// healthy, as other tests show (tests/differential, against transformers).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/diagnosis/sides.h"
#include "tests/support/build_host.h"

namespace plumbline::diff::test {
namespace {

struct Way {
  const char* name;
  std::vector<std::string> a, b;  // settings
  const char* format_a = "";  // of the weights, made here; empty: as pulled
};

const Way kWays[] = {
    {"threads", {}, {"kernels.threads=1"}},
    {"chunk", {}, {"context.prefill_chunk=5"}},
    {"scalar", {"kernels.backend=plumb.cpu.scalar"}, {}},
    {"wasm", {}, {"kernels.backend=plumb.wasm"}},
    {"reference", {"kernels.backend=reference"}, {}},
    {"reference_f32", {"kernels.backend=reference", "kernels.activations=f32"}, {}},
    {"activations", {"kernels.activations=f32"}, {}},
    {"kv", {}, {"kernels.kv=f16"}},
    {"q8_0", {"kernels.activations=f32"}, {"kernels.activations=f32"}, "Q8_0"},
    {"q4_0", {}, {}, "Q4_0"},
};
constexpr uint32_t kQuickWays = 8;  // of these, the first
constexpr const char* kModels[] = {"smollm2-135m", "gemma3-270m", "qwen2.5-coder-0.5b"};

struct CleanPair {
  std::string model;
  const Way* way;
};

/// A long run takes all; else one way for each model, of those that need no file made.
std::vector<CleanPair> pairs() {
  std::vector<CleanPair> all;
  for (uint32_t model = 0; model < std::size(kModels); ++model) {
    const uint32_t one = chosen(3000 + model, kQuickWays);
    for (uint32_t way = 0; way < std::size(kWays); ++way) {
      if (is_long() || way == one) all.push_back({kModels[model], &kWays[way]});
    }
  }
  return all;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

class CleanPairs : public testing::TestWithParam<CleanPair> {
 public:
  static void TearDownTestSuite() {
    std::printf("%zu clean pairs, %zu false alarms\n", n_pairs_, n_alarms_);
  }

 protected:
  static inline size_t n_pairs_ = 0, n_alarms_ = 0;
};

TEST_P(CleanPairs, RaiseNoAlarm) {
  const auto& [model, way] = GetParam();
  if (std::string_view(way->name) == "wasm" &&
      !plumbline::test::host().find<plumb_kernels>({.pin = "plumb.wasm"}))
    GTEST_SKIP() << "plumb.wasm is not in this build";
  const std::string model_a = model + (way->format_a[0] != '\0' ? "@" : "") + way->format_a;
  auto a = open_side(model_a, way->a);
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_side(model, way->b, a->get());
  ASSERT_TRUE(b) << b.error().message;
  std::string source;
  const auto noise = noise_for(**a, **b, model, &source);
  ASSERT_TRUE(noise) << noise.error().message;

  DiffRequest request{.prompts = {}, .n_steps = 2, .noise = &*noise};
  const auto& all = texts("held_out");
  const uint32_t n_prompts = is_long() ? 12 : 3;
  const auto n_texts = static_cast<uint32_t>(all.size());
  // Every so-manieth, from a place of its own for each pair.
  const uint32_t first = chosen(4000 + static_cast<uint32_t>(way - kWays), n_texts);
  for (uint32_t i = 0; i < n_prompts; ++i)
    request.prompts.push_back({.text = all[(first + i * (n_texts / n_prompts)) % n_texts]});
  const auto report = compare(*(*a)->side, *(*b)->side, request);
  ASSERT_TRUE(report) << report.error().message;

  size_t n_alarms = 0;
  for (const PromptReport& prompt : report->prompts) {
    if (prompt.verdict < Verdict::kUnexplained) continue;
    ++n_alarms;
    std::string where = prompt.place ? prompt.place->op : "";
    if (prompt.place && where.empty()) where = door_name(prompt.place->door);
    for (const OpErrors& op : prompt.ops) {
      if (op.op != where) continue;
      where += ", error " + number(op.introduced_worst) + ", budget " +
               (op.budget ? number(*op.budget) : "unknown");
    }
    ADD_FAILURE() << model << " " << way->name << ": " << verdict_name(prompt.verdict) << " at "
                  << where << (prompt.cause ? ", " + prompt.cause->statement : "") << ": "
                  << prompt.prompt;
  }
  n_pairs_ += report->prompts.size();
  n_alarms_ += n_alarms;
  std::printf("%-20s %-14s %2zu pairs, %zu false alarms, worst verdict %-11s (%s)\n", model.c_str(),
              way->name, report->prompts.size(), n_alarms, verdict_name(report->verdict),
              source.c_str());
}

INSTANTIATE_TEST_SUITE_P(All, CleanPairs, testing::ValuesIn(pairs()), [](const auto& one) {
  std::string name = one.param.model + "_" + one.param.way->name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace plumbline::diff::test
