// SmolLM2 in other formats. Oracles: the step of the format, which no value may miss by more, and
// for the answer the model as it was.
#include "core/model/quantize.h"

#include <cmath>

#include "plumb/sdk/quantise.h"
#include "tests/support/model_harness.h"
#include "tests/support/pulled_model.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::test {
namespace {

constexpr const char* kModel = "smollm2-135m";

model::ModelFile open(const std::string& path) {
  auto file = model::ModelFile::open(gguf<plumb_loader>(PLUMB_EXT_LOADER), &small_host(), path);
  EXPECT_TRUE(file) << file.error().message;
  return *std::move(file);
}

std::vector<float> values(const plumb_tensor& tensor) {
  const FormatInfo& info = *find_format(tensor.format);
  const uint64_t n_blocks = tensor.data.bytes / info.block_bytes;
  std::vector<float> out(n_blocks * info.block_values);
  EXPECT_TRUE(dequantise_blocks(tensor.format, tensor.data.data, n_blocks, out.data()));
  return out;
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

struct Case {
  plumb_format format;
  // Largest error of a value over the largest value of its block of 32: half a step, for Q4_0's
  // upper end a whole one, and what rounding the scale to f16 adds (2^-11).
  double max_error;
  // Of the logits, to the source's. Measured: 0.9990 and more for Q8_0, 0.81 and more for Q4_0,
  // which cannot hold what Q4_1 and Q8_0 held.
  double min_cosine;
};

class QuantizedModel : public testing::TestWithParam<Case> {};

TEST_P(QuantizedModel, KeepsItsValuesAndItsAnswer) {
  const std::string source = pulled_model(kModel);
  ASSERT_NE(source, "") << kModel << " is missing: plumb model pull " << kModel;
  const TemporaryFolder folder;
  const std::string out = folder.path("out.gguf");
  const model::ModelFile before = open(source);
  const auto& writer = gguf<plumb_model_writer>(PLUMB_EXT_MODEL_WRITER);
  ThreadPool pool(2);
  const auto done = model::quantize(before, writer, pool, out, {.to = GetParam().format});
  ASSERT_TRUE(done) << done.error().message;

  const model::ModelFile after = open(out);
  for (const auto* entry : before.tensors_in_order()) {
    const std::vector<float> old = values(entry->tensor);
    const plumb_tensor& tensor = after.find(to_view(entry->tensor.name))->tensor;
    const std::vector<float> fresh = values(tensor);
    ASSERT_EQ(old.size(), fresh.size());
    for (size_t first = 0; first < old.size(); first += 32) {
      const size_t end = std::min(first + 32, old.size());
      float largest = 0;
      for (size_t i = first; i < end; ++i) largest = std::max(largest, std::abs(old[i]));
      for (size_t i = first; i < end; ++i) {
        ASSERT_LE(std::abs(fresh[i] - old[i]), GetParam().max_error * largest)
            << to_view(tensor.name) << ": element " << i;
      }
    }
  }

  const auto theirs = Runner::create(source, {.backend = "plumb.cpu.scalar"});
  const auto ours = Runner::create(out, {.backend = "plumb.cpu.scalar"});
  ASSERT_TRUE(theirs != nullptr && ours != nullptr);
  for (const GoldenCase& one : read_cases(golden_folder(kModel) + "/cases.jsonl")) {
    if (one.ids.size() > 32) continue;
    const std::vector<float> a = theirs->last_logits(one.ids), b = ours->last_logits(one.ids);
    const double similarity = cosine(a, b);
    EXPECT_GE(similarity, GetParam().min_cosine) << one.name;
    std::printf("%s %s: cosine of the logits to the source's %.6f, best id %s\n",
                std::string(format_name(GetParam().format)).c_str(), one.name.c_str(), similarity,
                argmax(a) == argmax(b) ? "the same" : "another");
  }
}

INSTANTIATE_TEST_SUITE_P(SmolLM2, QuantizedModel,
                         testing::Values(Case{PLUMB_Q8_0, 0.5 / 127 + 0x1p-11, 0.99},
                                         Case{PLUMB_Q4_0, 1.0 / 8 + 0x1p-11, 0.7}),
                         [](const auto& one) {
                           return std::string(format_name(one.param.format));
                         });

}  // namespace
}  // namespace plumbline::test
