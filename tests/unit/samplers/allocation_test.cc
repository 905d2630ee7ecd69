// apply allocates nothing. Oracle: this program's own operator new, which counts.
#include <cstdlib>
#include <new>
#include <random>

#include "tests/unit/samplers/stages_in_a_row.h"

namespace {
int n_allocations = 0;
}

// Not inlined: GCC 12 would take free for the wrong partner of an operator new that it does not
// look into.
__attribute__((noinline)) void* operator new(std::size_t n_bytes) {
  ++n_allocations;
  if (void* memory = std::malloc(n_bytes)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void* operator new(std::size_t n_bytes, const std::nothrow_t&) noexcept {
  ++n_allocations;
  return std::malloc(n_bytes);
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace plumbline::test {
namespace {

TEST(SamplerAllocation, ApplyAllocatesNothing) {
  constexpr uint32_t kVocab = 50000;
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(kVocab);
  for (float& logit : logits) logit = normal(random);
  const std::vector<StageSpec> before_the_draw = {
      {"frequency", R"({"strength": 0.1})"},
      {"presence", R"({"strength": 0.1, "count": "all", "last": 900})"},
      {"repetition", R"({"theta": 1.1})"},
      {"dry", R"({"multiplier": 0.8})"},
      {"logit_bias", R"({"biases": {"7": 1, "9": "-inf"}})"},
      {"grammar_mask"},
      {"dynamic_temperature", R"({"t": 0.8, "range": 0.3})"},
      {"temperature", R"({"t": 0.8})"},
      {"top_k", R"({"k": 30000, "ties": "all"})"},
      {"cap", R"({"n": 20000})"},
      {"top_n_sigma", R"({"n": 6})"},
      {"top_p", R"({"p": 0.999, "min_keep": 5})"},
      {"typical", R"({"p": 0.99})"},
      {"min_p", R"({"p": 0.0001, "min_keep": 40})"},
      {"xtc", R"({"probability": 1, "threshold": 0.001})"}};
  Facts facts{.seed = 1, .step = 2, .control = {5}, .breakers = {3}};
  for (uint32_t i = 0; i < 1000; ++i) {
    facts.prompt.push_back(static_cast<int32_t>(i * i % 97));
    facts.generated.push_back(static_cast<int32_t>(i % 31));
    facts.allowed.push_back(static_cast<int32_t>(i * 50));
  }
  const Context context(facts, kVocab);
  for (const char* draw : {"greedy", "cdf", "gumbel", "xorshift64", "mirostat_v2"}) {
    auto stages = before_the_draw;
    stages.push_back({draw});
    const Chain chain(stages, kVocab);
    Row row(logits);
    const int before = n_allocations;
    const auto status = chain.apply(row, context);
    const int after = n_allocations;
    EXPECT_EQ(status, PLUMB_OK);
    EXPECT_EQ(after - before, 0) << draw;
    EXPECT_GT(before, 0) << "operator new is not counted";
    EXPECT_GT(row.value.n, 1u) << "the stages left nothing to draw from";
  }
}

}  // namespace
}  // namespace plumbline::test
