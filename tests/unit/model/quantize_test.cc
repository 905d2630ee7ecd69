// Files with their weights in another format. Oracle: quantise.h block by block, which
// golden/quantise judges, on a plain loop over the source; and the folder's state after a failure.
#include "core/model/quantize.h"

#include <gmock/gmock.h>

#include <random>

#include "plugins/loaders/gguf/loader_table.h"
#include "plugins/loaders/gguf/writer_table.h"
#include "plumb/sdk/quantise.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/memory_host.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::model {
namespace {

using test::Bytes;
using test::GgufWriter;
using testing::HasSubstr;
using testing::IsEmpty;

/// Finite values in any format, by way of random bytes with ordinary scales.
Bytes random_blocks(plumb_format format, uint64_t n_values, uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes out;
  visit_block_type(format, [&]<typename Block>(std::type_identity<Block>) {
    const uint64_t n_blocks = n_values / find_format(format)->block_values;
    for (uint64_t b = 0; b < n_blocks; ++b) {
      Block block;
      auto* raw = reinterpret_cast<uint8_t*>(&block);
      for (size_t i = 0; i < sizeof block; ++i) raw[i] = static_cast<uint8_t>(random());
      const float scale = static_cast<float>(random() % 1000) / 65536;
      if constexpr (requires { block.d; }) block.d = f32_to_f16(scale);
      if constexpr (requires { block.dmin; }) block.dmin = f32_to_f16(scale / 2);
      if constexpr (requires { block.m; }) block.m = f32_to_f16(-scale);
      if constexpr (std::is_same_v<Block, block_f32>) block.x = scale;
      if (format == PLUMB_F16 || format == PLUMB_BF16) raw[1] = 0x3c;  // near 0.01 or 1
      test::append(out, block);
    }
  });
  return out;
}

struct Tensor {
  std::string name;
  std::vector<uint64_t> dims;  // fastest first
  plumb_format format;
  Bytes data;
};

Tensor random_tensor(const std::string& name, std::vector<uint64_t> dims, plumb_format format) {
  uint64_t n = 1;
  for (const uint64_t dim : dims) n *= dim;
  return {name, std::move(dims), format, random_blocks(format, n, std::hash<std::string>()(name))};
}

class Quantize : public testing::Test {
 protected:
  ModelFile open(const std::vector<Tensor>& tensors) {
    GgufWriter writer;
    writer.text("general.architecture", "test");
    for (const Tensor& t : tensors)
      writer.tensor(t.name, t.dims, static_cast<uint32_t>(t.format), t.data);
    return open("in.gguf", writer.bytes());
  }
  ModelFile open(const std::string& name, const Bytes& bytes) {
    host_.put(name, bytes);
    auto file = ModelFile::open(loaders::gguf::loader_table(), &host_.host(), name);
    EXPECT_TRUE(file) << file.error().message;
    return *std::move(file);
  }

  Result<QuantizeReport> run(const ModelFile& file, plumb_format to, uint32_t n_threads = 2) {
    ThreadPool pool(n_threads);
    return quantize(file, loaders::gguf::writer_table(), pool, folder_.path("out.gguf"),
                    {.to = to});
  }

  Bytes written() const {
    const std::string bytes = folder_.read("out.gguf");
    return {bytes.begin(), bytes.end()};
  }
  ModelFile open_written() { return open("out.gguf", written()); }

  void expect_refused(const ModelFile& file, plumb_format to, const std::string& message) {
    const auto done = run(file, to);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, PLUMB_NUMERIC);
    EXPECT_EQ(done.error().message, message);
    EXPECT_THAT(folder_.files(), IsEmpty());
  }

  test::MemoryHost host_;
  test::TemporaryFolder folder_;
};

constexpr plumb_format kTargets[] = {PLUMB_F32,  PLUMB_F16,  PLUMB_Q4_0, PLUMB_Q4_1,
                                     PLUMB_Q5_0, PLUMB_Q8_0, PLUMB_Q6_K};

Bytes expected_data(const Tensor& tensor, plumb_format to) {
  if (to == tensor.format) return tensor.data;
  const FormatInfo& from = *find_format(tensor.format);
  const uint64_t n_blocks = tensor.data.size() / from.block_bytes;
  std::vector<float> values(n_blocks * from.block_values);
  EXPECT_TRUE(dequantise_blocks(tensor.format, tensor.data.data(), n_blocks, values.data()));
  const FormatInfo& target = *find_format(to);
  Bytes out(values.size() / target.block_values * target.block_bytes);
  EXPECT_TRUE(quantise_blocks(to, values.data(), values.size() / target.block_values, out.data()));
  return out;
}

TEST_F(Quantize, FromEveryFormatToEvery) {
  std::vector<Tensor> tensors;
  for (const FormatInfo& info : kFormats) {
    if (info.format == PLUMB_I32) continue;
    tensors.push_back(random_tensor("blk.0." + std::string(info.name), {256, 3}, info.format));
  }
  const ModelFile file = open(tensors);
  for (const plumb_format to : kTargets) {
    const auto done = run(file, to);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->kinds.size(), 13u);
    const ModelFile out = open_written();
    for (const Tensor& tensor : tensors) {
      SCOPED_TRACE(tensor.name + " to " + std::string(format_name(to)));
      const plumb_tensor& made = out.find(tensor.name)->tensor;
      EXPECT_EQ(made.format, to);
      const Bytes data(made.data.data, made.data.data + made.data.bytes);
      EXPECT_EQ(data, expected_data(tensor, to));
    }
  }
}

TEST_F(Quantize, ShapesThatFitNoBlockFallBack) {
  const Tensor ids{"ids", {4}, PLUMB_I32, Bytes(16, 1)};
  const std::vector<Tensor> tensors = {random_tensor("norm", {64}, PLUMB_F16),
                                       random_tensor("wide", {512, 2}, PLUMB_F32),
                                       random_tensor("narrow", {96, 2}, PLUMB_BF16),
                                       random_tensor("odd", {33, 2}, PLUMB_F32),
                                       random_tensor("one", {1, 1}, PLUMB_F32),
                                       random_tensor("deep", {32, 3, 5}, PLUMB_Q8_0),
                                       random_tensor("four", {256, 1, 2, 2}, PLUMB_Q4_K),
                                       ids};
  const ModelFile file = open(tensors);
  const auto formats = [&](plumb_format to) {
    std::string all;
    for (const auto* entry : file.tensors_in_order())
      all += std::string(format_name(quantized_format(entry->tensor, to))) + " ";
    return all;
  };
  EXPECT_EQ(formats(PLUMB_Q6_K), "F32 Q6_K Q8_0 F16 F16 Q8_0 Q6_K I32 ");
  EXPECT_EQ(formats(PLUMB_Q4_0), "F32 Q4_0 Q4_0 F16 F16 Q4_0 Q4_0 I32 ");
  EXPECT_EQ(formats(PLUMB_F32), "F32 F32 F32 F32 F32 F32 F32 I32 ");

  const auto done = run(file, PLUMB_Q6_K);
  ASSERT_TRUE(done) << done.error().message;
  std::string fallbacks;
  for (const QuantizedKind& kind : done->kinds) {
    if (kind.is_fallback) fallbacks += kind.name + " ";
  }
  EXPECT_EQ(fallbacks, "narrow odd one deep ");
  const ModelFile out = open_written();
  for (const Tensor& tensor : tensors) {
    const plumb_tensor& made = out.find(tensor.name)->tensor;
    const Bytes data(made.data.data, made.data.data + made.data.bytes);
    EXPECT_EQ(data, tensor.format == PLUMB_I32 ? tensor.data : expected_data(tensor, made.format))
        << tensor.name;
  }
}

/// More chunks than threads, the last one short, and a second batch.
TEST_F(Quantize, ThreadsChangeNothing) {
  const ModelFile file = open({random_tensor("blk.0.w", {160, 14000}, PLUMB_BF16),
                               random_tensor("blk.1.w", {32, 7}, PLUMB_BF16)});
  Bytes expected;
  double rms_error = 0;
  for (const uint32_t n_threads : {1u, 2u, 3u, 5u}) {
    const auto done = run(file, PLUMB_Q4_1, n_threads);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(done->kinds.size(), 1u) << "the layer's number is no part of a kind";
    EXPECT_EQ(done->kinds[0].n_tensors, 2u);
    if (expected.empty()) {
      expected = written();
      rms_error = done->kinds[0].rms_error;
    }
    EXPECT_EQ(written(), expected);
    EXPECT_EQ(done->kinds[0].rms_error, rms_error);
  }
  EXPECT_GT(rms_error, 0);
  EXPECT_LT(rms_error, 0.1) << "a step of 1/15 of the range";
}

TEST_F(Quantize, ValuesThatNoBlockHoldsAreNamed) {
  const auto file_with = [&](float value) {
    std::vector<float> values(70000 * 2, 0.5f);
    values[69999] = values[139999] = value;  // the first of them counts
    Bytes data;
    for (const float x : values) test::append(data, x);
    return open({{"blk.3.ffn_up.weight", {70000, 2}, PLUMB_F32, data}});
  };
  const std::string where = "in.gguf: tensor blk.3.ffn_up.weight: element 69999 is ";
  expect_refused(file_with(std::numeric_limits<float>::quiet_NaN()), PLUMB_F32,
                 where + "nan, expected a finite number");
  expect_refused(file_with(-std::numeric_limits<float>::infinity()), PLUMB_F16,
                 where + "-inf, expected a finite number");
  expect_refused(file_with(1e6f), PLUMB_F16, where + "1e+06, too large for F16");
  EXPECT_TRUE(run(file_with(-65504), PLUMB_F16));
}

TEST_F(Quantize, CancellingLeavesNothing) {
  const ModelFile file = open({random_tensor("w", {32, 3}, PLUMB_F32)});
  const std::atomic<bool> cancel{true};
  ThreadPool pool(1);
  const auto done = quantize(file, loaders::gguf::writer_table(), pool, folder_.path("out.gguf"),
                             {.to = PLUMB_Q8_0, .cancel = &cancel});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, PLUMB_CANCELLED);
  EXPECT_THAT(folder_.files(), IsEmpty());
}

/// The number of a tensor is an index into what the host asks the writer for.
TEST_F(Quantize, ALoaderThatNamesATensorTwiceIsRefused) {
  open({random_tensor("a", {32, 3}, PLUMB_F32), random_tensor("b", {32, 3}, PLUMB_F32)});
  plumb_loader liar = loaders::gguf::loader_table();
  liar.tensor_at = [](void* model, uint64_t, plumb_tensor* tensor, plumb_error* error) {
    return loaders::gguf::loader_table().tensor_at(model, 0, tensor, error);
  };
  const auto file = ModelFile::open(liar, &host_.host(), "in.gguf");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, PLUMB_CORRUPT);
  EXPECT_EQ(file.error().message, "in.gguf: tensor a is there twice, again as number 1");
}

/// A plugin's offsets decide where the host writes, so they are looked at first.
TEST_F(Quantize, AWriterThatLiesIsNotFollowed) {
  const ModelFile file =
      open({random_tensor("a", {32, 3}, PLUMB_F32), random_tensor("b", {32, 3}, PLUMB_F32)});
  static void (*lie)(plumb_file_layout*) = nullptr;
  plumb_model_writer liar = loaders::gguf::writer_table();
  liar.layout = [](void* model, plumb_file_layout* layout, plumb_error* error) {
    const plumb_status status = loaders::gguf::writer_table().layout(model, layout, error);
    if (status == PLUMB_OK) lie(layout);
    return status;
  };
  void (*const lies[])(plumb_file_layout*) = {
      [](plumb_file_layout* layout) { layout->offsets[0] = 0; },
      [](plumb_file_layout* layout) { layout->offsets[1] = layout->offsets[0] + 1; },
      [](plumb_file_layout* layout) { layout->offsets[1] = UINT64_MAX - 4; },
      [](plumb_file_layout* layout) { layout->file_bytes -= 64; },
      [](plumb_file_layout* layout) { layout->head_bytes += 1; },
  };
  ThreadPool pool(1);
  for (const auto one : lies) {
    lie = one;
    const auto done = quantize(file, liar, pool, folder_.path("out.gguf"), {.to = PLUMB_Q8_0});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, PLUMB_INTERNAL);
    EXPECT_THAT(done.error().message, HasSubstr("no room for the tensors"));
    EXPECT_THAT(folder_.files(), IsEmpty());
  }
}

}  // namespace
}  // namespace plumbline::model
