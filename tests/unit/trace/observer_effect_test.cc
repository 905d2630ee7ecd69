// A run that is looked at gives the bits of one that is not, on every backend and variant of this
// build that can run here. Oracle: the same decoder without an observer.
#include <gtest/gtest.h>

#include "core/trace/op_timer.h"
#include "core/trace/op_tracer.h"
#include "tests/support/model_harness.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::test {
namespace {

struct Logits {
  std::vector<float> prefill, decode;
};

class ObserverEffect : public testing::TestWithParam<std::string> {
 protected:
  // A prefill of two chunks and a token behind it.
  static Logits run(Runner& runner, model::OpObserver* observer) {
    const std::vector<int32_t> ids = {1, 5, 9, 2, 7, 3, 8};
    const int32_t next = 4;
    Logits logits;
    EXPECT_TRUE(runner.decoder().truncate(0));
    runner.decoder().set_observer(observer);
    for (const auto& [part, to] : {std::pair{std::span<const int32_t>(ids), &logits.prefill},
                                   std::pair{std::span(&next, 1), &logits.decode}}) {
      const auto row = runner.decoder().forward(part);
      EXPECT_TRUE(row) << (row ? "" : row.error().message);
      if (row) to->assign(row->begin(), row->end());
    }
    runner.decoder().set_observer(nullptr);
    return logits;
  }
};

TEST_P(ObserverEffect, IsNone) {
  for (const char* model : {"tiny-llama", "tiny-gemma3", "tiny-qwen3"}) {
    for (const plumb_format activations : {PLUMB_F32, PLUMB_ACT_Q8}) {
      const auto runner = Runner::create(
          golden_folder(model) + "/model.gguf",
          {.backend = GetParam(), .activations = activations, .n_threads = 2, .chunk_rows = 5});
      ASSERT_NE(runner, nullptr);
      const Logits plain = run(*runner, nullptr);
      ASSERT_FALSE(plain.prefill.empty());
      std::vector<const model::OpInfo*> ops = runner->decoder().ops();
      std::erase_if(ops, [](const auto* op) { return op->kind == PLUMB_OP_QUANTIZE; });
      for (const trace::Level level :
           {trace::Level::kHash, trace::Level::kStatistics, trace::Level::kFull}) {
        TemporaryFolder folder;
        std::filesystem::create_directory(folder.path("ops"));
        trace::OpTracer tracer(ops, {GetParam()}, level, folder.path("."));
        const Logits traced = run(*runner, &tracer);
        EXPECT_TRUE(same_bits(plain.prefill, traced.prefill)) << model;
        EXPECT_TRUE(same_bits(plain.decode, traced.decode)) << model;
        const auto kept = std::move(tracer).finish();
        ASSERT_TRUE(kept) << kept.error().message;
        EXPECT_EQ(kept->size(), ops.size());
        // What the head's last op left are the logits.
        EXPECT_EQ(kept->back().matrix.n_rows, 2u);
        EXPECT_EQ(kept->back().matrix.first_position, 6u);
        EXPECT_EQ(kept->front().matrix.n_rows, 8u);
      }
      trace::OpTimer timer;
      const Logits timed = run(*runner, &timer);
      EXPECT_TRUE(same_bits(plain.prefill, timed.prefill)) << model;
      EXPECT_TRUE(same_bits(plain.decode, timed.decode)) << model;
      EXPECT_GT(timer.spans().size(), ops.size());
    }
  }
}

std::vector<std::string> all_backends() {
  std::vector<std::string> names;
  for (const KernelsPlugin& kernels : runnable_kernels()) names.push_back(kernels.name());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Backends, ObserverEffect, testing::ValuesIn(all_backends()),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace plumbline::test
