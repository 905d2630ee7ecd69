// A real model and a prompt so short that an emulated processor can run it: every canonical variant
// gives the same logits, bit for bit, and so does that of a build for another processor. Oracles:
// the specification, plumb.cpu.scalar; across processors its digests; and transformers for the
// token (golden/models/smollm2-135m).
#include "plumb/sdk/blocks.h"
#include "tests/support/digest_book.h"
#include "tests/support/model_harness.h"
#include "tests/support/pulled_model.h"

namespace plumbline::test {
namespace {

constexpr const char* kModel = "smollm2-135m";

TEST(RealBits, OfAShortPromptAreEqualOnEveryProcessor) {
  const std::string path = pulled_model(kModel);
  ASSERT_NE(path, "") << kModel << " is missing: plumb model pull " << kModel;
  const GoldenCase golden = read_cases(golden_folder(kModel) + "/greedy.jsonl").front();
  DigestBook digests;
  for (const plumb_format activations : {PLUMB_ACT_Q8, PLUMB_F32}) {
    std::vector<float> expected;
    for (const std::string& backend : canonical_backends()) {
      const auto runner = Runner::create(
          path,
          {.backend = backend, .activations = activations, .n_threads = 2, .context_rows = 64});
      ASSERT_NE(runner, nullptr);
      const std::vector<float> logits = runner->last_logits(golden.prompt_ids);
      if (expected.empty()) expected = logits;
      EXPECT_TRUE(same_bits(logits, expected)) << backend;
    }
    EXPECT_EQ(argmax(expected), golden.ids.front());
    digests.add("The capital of France is, activations " + std::string(format_name(activations)),
                expected);
  }
  digests.settle(kModel);
}

}  // namespace
}  // namespace plumbline::test
