// apply allocates nothing. Oracle: this program's own operator new, which counts.
#include <cstdlib>
#include <new>
#include <random>

#include "stages_in_a_row.h"

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
  const std::vector<StageSpec> narrow = {{"temperature", R"({"t": 0.8})"},
                                         {"top_k", R"({"k": 20000})"},
                                         {"top_p", R"({"p": 0.999})"},
                                         {"min_p", R"({"p": 0.0001})"}};
  for (const char* draw : {"greedy", "cdf", "gumbel"}) {
    auto stages = narrow;
    stages.push_back({draw});
    const Chain chain(stages, kVocab);
    Row row(logits);
    const int before = n_allocations;
    const auto status = chain.apply(row, 1, 2);
    const int after = n_allocations;
    EXPECT_EQ(status, PLUMB_OK);
    EXPECT_EQ(after - before, 0) << draw;
    EXPECT_GT(before, 0) << "operator new is not counted";
  }
}

}  // namespace
}  // namespace plumbline::test
