// clean_pairs_test: pairs without a fault, most of them of other arithmetic, on prompts that no
// level was measured on: nothing may be called WRONG or UNEXPLAINED. Oracle: both sides are
// healthy, as other tests show (tests/differential, against transformers).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/base/os/process.h"
#include "tests/diagnosis/sides.h"
#include "tests/support/build_host.h"

namespace plumbline::diff::test {
namespace {

struct Way {
  const char* name;
  std::vector<std::string> a, b;  // settings
  const char *format_a = "", *format_b = "";  // of the weights, made here; empty: as pulled
  const char* package = "";  // of Python: what A runs on
};

const char* const kF32 = "kernels.activations=f32";

// The first have equal bits; the others' arithmetic differs.
const Way kWays[] = {
    {"threads", {}, {"kernels.threads=1"}},
    {"chunk", {}, {"context.prefill_chunk=5"}},
    {"scalar", {"kernels.backend=plumb.cpu.scalar"}, {}},
    {"wasm", {}, {"kernels.backend=plumb.wasm"}},
    {"reference", {"kernels.backend=reference"}, {}},
    {"reference_f32", {"kernels.backend=reference", kF32}, {}},
    {"fast", {}, {"kernels.backend=plumb.cpu.fast"}},
    {"fast_f32", {kF32}, {"kernels.backend=plumb.cpu.fast", kF32}},
    {"activations", {kF32}, {}},
    {"kv", {}, {"kernels.kv=f16"}},
    {"q8_0", {kF32}, {kF32}, "Q8_0", "F32"},
    {"q4_0", {kF32}, {kF32}, "Q4_0", "F32"},
    {"f32", {kF32}, {}, "F32", ""},
    {"transformers", {"runner.name=transformers", kF32}, {kF32}, "", "", "transformers"},
    {"transformers_q8", {"runner.name=transformers", kF32}, {}, "", "", "transformers"},
    {"llama_cpp", {"runner.name=llama_cpp"}, {}, "", "", "llama_cpp"},
};
constexpr uint32_t kQuickWays = 10;  // of these, the first
constexpr uint32_t kTokens = 16;  // of a prompt: the reference is slow

struct Model {
  const char* name;
  uint32_t n_prompts;  // of a long run, for each way
};
constexpr Model kModels[] = {
    {"tiny-world", 8}, {"smollm2-135m", 6}, {"gemma3-270m", 4}, {"qwen2.5-coder-0.5b", 3}};

/// Other formats are a matter of the model, and their levels are SmolLM2's. The engines' runners
/// know the architectures of the pulled models.
bool fits(const Way& way, std::string_view model) {
  if (way.format_a[0] != '\0') return model == "smollm2-135m";
  return way.package[0] == '\0' || !model.starts_with("tiny-");
}

struct CleanPair {
  Model model;
  const Way* way;
};

/// A long run takes all; else one way for each model, of those that need no file made.
std::vector<CleanPair> pairs() {
  std::vector<CleanPair> all;
  for (uint32_t model = 0; model < std::size(kModels); ++model) {
    const uint32_t one = chosen(3000 + model, kQuickWays);
    for (uint32_t way = 0; way < std::size(kWays); ++way) {
      if (fits(kWays[way], kModels[model].name) && (is_long() || way == one))
        all.push_back({kModels[model], &kWays[way]});
    }
  }
  return all;
}

/// "" if no Python here has the package.
std::string python_with(const std::string& package) {
  const char* named = std::getenv("PLUMB_RUNNER_PYTHON");
  const std::string python = named != nullptr ? named : "python3";
  const auto found = os::run({python, "-c", "import " + package});
  return found && found->succeeded() ? python : "";
}

/// As text where it is short, so that the doors in front of the ids are compared too.
Result<PromptInput> prompt_of(const OpenedSide& side, const std::string& text) {
  PLUMB_ASSIGN(pipeline::Encoding encoding, side.pipeline->encode_prompt({.bytes = text}));
  if (encoding.ids.size() <= kTokens) return PromptInput{.text = text};
  encoding.ids.resize(kTokens);
  return PromptInput{.ids = std::move(encoding.ids)};
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
  const std::string model = GetParam().model.name;
  const Way& way = *GetParam().way;
  if (std::string_view(way.name) == "wasm" &&
      !plumbline::test::host().find<plumb_kernels>({.pin = "plumb.wasm"}))
    GTEST_SKIP() << "plumb.wasm is not in this build";
  std::vector<std::string> settings_a = way.a;
  if (way.package[0] != '\0') {
    const std::string python = python_with(way.package);
    if (python.empty())
      GTEST_SKIP() << "no Python with " << way.package << ": set PLUMB_RUNNER_PYTHON";
    settings_a.push_back("runner.python=" + python);
  }
  const auto in_format = [&](const std::string& format) {
    return format.empty() ? model : model + "@" + format;
  };
  auto a = open_side(in_format(way.format_a), settings_a);
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_side(in_format(way.format_b), way.b, a->get());
  ASSERT_TRUE(b) << b.error().message;

  DiffRequest request{.prompts = {}, .n_steps = 2, .noise = &shipped_noise()};
  const auto& all = texts("held_out");
  const uint32_t n_prompts = is_long() ? GetParam().model.n_prompts : 3;
  const auto n_texts = static_cast<uint32_t>(all.size());
  // Every so-manieth, from a place of its own for each pair.
  const uint32_t first = chosen(4000 + static_cast<uint32_t>(&way - kWays), n_texts);
  for (uint32_t i = 0; i < n_prompts; ++i) {
    auto prompt = prompt_of(**b, all[(first + i * (n_texts / n_prompts)) % n_texts]);
    ASSERT_TRUE(prompt) << prompt.error().message;
    request.prompts.push_back(*std::move(prompt));
  }
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
      if (op.split) {
        where += ", weights " + number(op.split->weights) + " of " +
                 number(op.split->weights_bound) + ", activations " +
                 number(op.split->activations) + " of " + number(op.split->activations_bound) +
                 ", arithmetic " + number(op.split->arithmetic) + " of " +
                 number(op.split->arithmetic_bound.value_or(0));
      }
      where += ", error " + number(op.introduced_worst) + ", budget " +
               (op.budget ? number(*op.budget) : "unknown");
    }
    ADD_FAILURE() << model << " " << way.name << ": " << verdict_name(prompt.verdict) << " at "
                  << where << (prompt.cause ? ", " + prompt.cause->statement : "") << ": "
                  << prompt.prompt;
  }
  n_pairs_ += report->prompts.size();
  n_alarms_ += n_alarms;
  std::printf("%-20s %-16s %2zu pairs, %zu false alarms, worst verdict %s\n", model.c_str(),
              way.name, report->prompts.size(), n_alarms, verdict_name(report->verdict));
  std::fflush(stdout);
}

INSTANTIATE_TEST_SUITE_P(All, CleanPairs, testing::ValuesIn(pairs()), [](const auto& one) {
  std::string name = one.param.model.name + std::string("_") + one.param.way->name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace plumbline::diff::test
