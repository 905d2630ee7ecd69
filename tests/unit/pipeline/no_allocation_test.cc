// After load, generating a token allocates nothing, with one thread and with two. Oracle: this
// program's own malloc hooks, through which operator new and the plugins' go too.
#include <malloc.h>

#include <atomic>

#include "tests/unit/pipeline/tiny_world.h"

namespace {
std::atomic<uint64_t> n_allocations{0};
}

extern "C" void* __libc_malloc(size_t n_bytes);
extern "C" void* __libc_calloc(size_t n, size_t n_bytes);
extern "C" void* __libc_realloc(void* memory, size_t n_bytes);
extern "C" void* malloc(size_t n_bytes) {
  ++n_allocations;
  return __libc_malloc(n_bytes);
}
extern "C" void* calloc(size_t n, size_t n_bytes) {
  ++n_allocations;
  return __libc_calloc(n, n_bytes);
}
extern "C" void* realloc(void* memory, size_t n_bytes) {
  ++n_allocations;
  return __libc_realloc(memory, n_bytes);
}

namespace plumbline::test {
namespace {

TEST(NoAllocation, TokensAreGeneratedInMemoryThatIsThere) {
  for (const char* threads : {"1", "2"}) {
    for (const char* backend : {"plumb.cpu.scalar", "plumb.reference"}) {
      const auto pipeline =
          tiny_world({std::string("kernels.threads=") + threads,
                      std::string("kernels.backend=") + backend, "sampling.profile=balanced"});
      ASSERT_NE(pipeline, nullptr);
      const auto decoder = pipeline->decoder();
      auto sampler = pipeline->sampler();
      const auto prompt = pipeline->encode_prompt({.bytes = "Once upon a time"});
      ASSERT_TRUE(decoder) << decoder.error().message;
      ASSERT_TRUE(sampler) << sampler.error().message;
      ASSERT_TRUE(prompt) << prompt.error().message;
      const std::vector<uint64_t> no_control((*decoder)->hyper_parameters().n_vocab / 64 + 1, 0);
      ASSERT_TRUE((*decoder)->forward(prompt->ids));

      int32_t id = prompt->ids.back();
      uint64_t before = 0;
      bool failed = false;
      for (uint64_t step = 0; step < 10; ++step) {
        if (step == 2) before = n_allocations;  // the first tokens may set up what stays
        const auto logits = (*decoder)->forward({&id, 1});
        plumb_sample_context context{};
        context.seed = 1;
        context.step = step;
        context.control_bits = no_control.data();
        const auto pick =
            logits ? sampler->pick(*logits, context) : Result<pipeline::Pick>(logits.error());
        failed |= !pick;
        if (pick) id = pick->id;
      }
      const uint64_t after = n_allocations;
      EXPECT_FALSE(failed);
      EXPECT_GT(before, 0u) << "malloc is not counted";
      EXPECT_EQ(after - before, 0u) << backend << " with " << threads << " threads";
    }
  }
}

// Several sequences in one step, and a window that goes round.
TEST(NoAllocation, SequencesGoOnInMemoryThatIsThere) {
  for (const char* threads : {"1", "2"}) {
    const auto pipeline = tiny_world({std::string("kernels.threads=") + threads});
    ASSERT_NE(pipeline, nullptr);
    ASSERT_TRUE(pipeline->decoder());  // which makes the backends
    model::DecoderOptions options;
    for (const auto& backend : pipeline->backends()) options.backends.push_back(backend.get());
    options.context_rows = 8;
    options.window.policy = model::WindowPolicy::kSinkRing;
    const auto decoder = model::Decoder::create(pipeline->file(), pipeline->threads(), options);
    ASSERT_TRUE(decoder) << decoder.error().message;
    const int32_t id = 1;
    std::vector<model::SequenceIds> parts = {{&(*decoder)->sequence(), {&id, 1}}};
    for (int i = 0; i < 3; ++i) parts.push_back({*(*decoder)->create_sequence(), {&id, 1}});
    uint64_t before = 0;
    bool failed = false;
    for (int step = 0; step < 40; ++step) {
      if (step == 20) before = n_allocations;  // each has evicted by then
      failed |= !(*decoder)->step(parts);
    }
    const uint64_t after = n_allocations;
    EXPECT_FALSE(failed);
    EXPECT_EQ(after - before, 0u) << threads << " threads";
  }
}

}  // namespace
}  // namespace plumbline::test
