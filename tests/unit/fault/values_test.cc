// What faults of weights, products and outputs compute. Oracle: the blocks read as the fault's
// description says, value by value, and sums in f64.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "plumb/sdk/blocks.h"
#include "plumb/sdk/half.h"
#include "tests/support/fault_plugin.h"
#include "tests/support/random_tensors.h"

namespace plumbline::test {
namespace {

constexpr const char* kReference = "plumb.reference";
constexpr uint32_t kRows = 4;  // of a matrix

HostTensor matrix(plumb_format format, uint32_t n_blocks = 3) {
  Random random(11);
  return random_tensor(random, format, {kRows, n_blocks * find_format(format)->block_values},
                       Inputs::kOrdinary, true);
}

/// All rows of a matrix as plugin reads them.
std::vector<float> embedded(const KernelsPlugin& plugin, const HostTensor& tensor) {
  Rig rig(plugin);
  std::vector<int32_t> ids(kRows);
  std::iota(ids.begin(), ids.end(), 0);
  plumb_op op = make_op(PLUMB_OP_EMBED, kRows);
  op.as.embed = {.weight = rig.weight(tensor, PLUMB_USE_EMBED),
                 .ids = rig.input(ids),
                 .out = rig.room(kRows * tensor.dims[1] * 4)};
  const Outcome outcome = rig.execute(op, 2);
  EXPECT_EQ(outcome.status, PLUMB_OK) << outcome.message;
  return rig.values<float>(op.as.embed.out, kRows * tensor.dims[1]);
}

/// read(block, out) of every block.
template <typename Block>
std::vector<float> read_as(const HostTensor& tensor,
                           const std::function<void(const Block&, float*)>& read) {
  std::vector<float> values(kRows * tensor.dims[1]);
  float* out = values.data();
  for (size_t at = 0; at < tensor.data.size(); at += sizeof(Block)) {
    Block block;
    std::memcpy(&block, tensor.data.data() + at, sizeof block);
    read(block, out);
    out += find_format(tensor.format)->block_values;
  }
  return values;
}

int nibble(const uint8_t* qs, int i) {
  return i < 16 ? qs[i] & 15 : qs[i - 16] >> 4;
}

TEST(WeightFaults, ZeroPointsAreOffByOne) {
  const HostTensor q4 = matrix(PLUMB_Q4_0), q5 = matrix(PLUMB_Q5_0);
  EXPECT_EQ(embedded(broken(kReference, "weight_sign_bit"), q4),
            read_as<plumb_block_q4_0>(q4, [](const plumb_block_q4_0& block, float* out) {
              for (int i = 0; i < 32; ++i)
                out[i] = f16_to_f32(block.d) * static_cast<float>(nibble(block.qs, i) - 7);
            }));
  EXPECT_EQ(embedded(broken(kReference, "weight_sign_bit"), q5),
            read_as<plumb_block_q5_0>(q5, [](const plumb_block_q5_0& block, float* out) {
              for (int i = 0; i < 32; ++i) {
                const int code = nibble(block.qs, i) | (block.qh[i / 8] >> (i % 8) & 1) << 4;
                out[i] = f16_to_f32(block.d) * static_cast<float>(code - 15);
              }
            }));
}

TEST(WeightFaults, PartsOfBlocksAreTakenForEachOther) {
  const HostTensor q4 = matrix(PLUMB_Q4_1), q5 = matrix(PLUMB_Q5_1);
  const auto q4_1 = [](int first_half, bool is_swapped) {
    return [=](const plumb_block_q4_1& block, float* out) {
      const float d = f16_to_f32(is_swapped ? block.m : block.d);
      const float m = f16_to_f32(is_swapped ? block.d : block.m);
      for (int i = 0; i < 32; ++i)
        out[i] = d * static_cast<float>(nibble(block.qs, (i + first_half) % 32)) + m;
    };
  };
  EXPECT_EQ(embedded(broken(kReference, "weight_nibble_order"), q4),
            read_as<plumb_block_q4_1>(q4, q4_1(16, false)));
  EXPECT_EQ(embedded(broken(kReference, "weight_scale_and_min_swapped"), q4),
            read_as<plumb_block_q4_1>(q4, q4_1(0, true)));
  EXPECT_EQ(embedded(broken(kReference, "weight_high_bits_lost"), q5),
            read_as<plumb_block_q5_1>(q5, [](const plumb_block_q5_1& block, float* out) {
              for (int i = 0; i < 32; ++i)
                out[i] = f16_to_f32(block.d) * static_cast<float>(nibble(block.qs, i)) +
                         f16_to_f32(block.m);
            }));
}

TEST(WeightFaults, NeighboursHaveEachOthersScale) {
  const HostTensor q8 = matrix(PLUMB_Q8_0);
  HostTensor exchanged = q8;
  for (uint32_t row = 0; row < kRows; ++row) {  // blocks 0 and 1 of 3
    uint8_t* first = exchanged.data.data() + row * 3 * sizeof(plumb_block_q8_0);
    std::swap_ranges(first, first + 2, first + sizeof(plumb_block_q8_0));
  }
  EXPECT_EQ(embedded(broken(kReference, "weight_block_pairing"), q8),
            embedded(plugin_of_host(kReference), exchanged));
  Rig rig(broken(kReference, "weight_block_pairing"));
  const HostTensor narrow = matrix(PLUMB_Q8_0, 1);
  plumb_op op = make_op(PLUMB_OP_EMBED, 1);
  op.as.embed = {.weight = rig.weight(narrow, PLUMB_USE_EMBED),
                 .ids = rig.input(std::vector<int32_t>{0}),
                 .out = rig.room(32 * 4)};
  EXPECT_EQ(rig.execute(op).message, "fault weight_block_pairing needs rows of two blocks or more");
}

TEST(WeightFaults, OtherFormatsAreRefused) {
  Rig rig(broken(kReference, "weight_nibble_order"));
  plumb_handle weight = 0;
  const Outcome outcome = rig.try_weight(matrix(PLUMB_Q8_0), PLUMB_USE_MATMUL, &weight);
  EXPECT_EQ(outcome.status, PLUMB_UNSUPPORTED);
  EXPECT_EQ(outcome.message,
            "fault weight_nibble_order needs weights of Q4_0, Q4_1, Q4_K; these are Q8_0");
}

TEST(WeightFaults, OfProductsAloneLeaveEmbeddingsAlone) {
  const HostTensor q8 = matrix(PLUMB_Q8_0);
  EXPECT_EQ(embedded(broken(kReference, "matmul_last_block_lost"), q8),
            embedded(plugin_of_host(kReference), q8));
  Rig rig(broken(kReference, "matmul_last_block_lost"));
  plumb_handle weight = 0;
  EXPECT_EQ(rig.try_weight(q8, PLUMB_USE_MATMUL | PLUMB_USE_EMBED, &weight).message,
            "fault matmul_last_block_lost needs a weight that is used in products only: place "
            "embed elsewhere");
}

// ---- products

std::vector<float> product(const KernelsPlugin& plugin, const HostTensor& w,
                           const std::vector<float>& x, plumb_format in_format) {
  Rig rig(plugin);
  const auto n_in = static_cast<uint32_t>(w.dims[1]);
  const auto n_rows = static_cast<uint32_t>(x.size() / n_in);
  const plumb_slice in = rig.input(x);
  plumb_op op = make_op(PLUMB_OP_MATMUL, n_rows);
  op.as.matmul = {.weight = rig.weight(w, PLUMB_USE_MATMUL),
                  .bias = 0,
                  .in = in_format == PLUMB_F32 ? in : rig.quantised(in, n_rows, n_in),
                  .out = rig.room(uint64_t{n_rows} * kRows * 4),
                  .in_format = in_format,
                  .n_in = n_in,
                  .n_out = kRows,
                  .reserved = 0};
  const Outcome outcome = rig.execute(op, 2);
  EXPECT_EQ(outcome.status, PLUMB_OK) << outcome.message;
  return rig.values<float>(op.as.matmul.out, uint64_t{n_rows} * kRows);
}

TEST(ProductFaults, TheLastBlockDoesNotCount) {
  const HostTensor w = matrix(PLUMB_Q4_1);
  Random random(12);
  std::vector<float> x = random_values(random, 2 * w.dims[1]);
  const auto lossy = product(broken(kReference, "matmul_last_block_lost"), w, x, PLUMB_F32);
  for (const uint64_t end : {w.dims[1], 2 * w.dims[1]})
    std::fill_n(x.begin() + static_cast<int64_t>(end) - 32, 32, 0.0f);
  EXPECT_EQ(lossy, product(plugin_of_host(kReference), w, x, PLUMB_F32));
}

// Two blocks of weights 127 and scale 1; activations as they come, of which the first gives the
// scale 1.
TEST(ProductFaults, PairsSaturateIn16Bits) {
  HostTensor w{PLUMB_Q8_0, {kRows, 64}, {}};
  plumb_block_q8_0 block{f32_to_f16(1), {}};
  std::fill_n(block.qs, 32, int8_t{127});
  for (uint32_t b = 0; b < 2 * kRows; ++b) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&block);
    w.data.insert(w.data.end(), bytes, bytes + sizeof block);
  }
  const auto saturated = [&](const std::vector<float>& x) {
    return product(broken("plumb.cpu.scalar", "matmul_saturating_product"), w, x, PLUMB_ACT_Q8)[0];
  };
  const auto right = [&](const std::vector<float>& x) {
    return product(plugin_of_host("plumb.cpu.scalar"), w, x, PLUMB_ACT_Q8)[0];
  };
  std::vector<float> x(64, 0.0f);
  x[0] = x[32] = 127;  // 255 * 127 = 32385 fits in 16 bits
  EXPECT_EQ(saturated(x), 2 * 127 * 127);
  EXPECT_EQ(saturated(x), right(x));
  x[1] = 127;  // twice that does not: 32767 instead of 64770
  EXPECT_EQ(right(x), 3 * 127 * 127);
  EXPECT_EQ(saturated(x), 3 * 127 * 127 - (64770 - 32767));
  x[1] = -127;  // the two of a pair cancel
  EXPECT_EQ(saturated(x), right(x));
}

TEST(ProductFaults, OneScaleServesTheRow) {
  const HostTensor w = matrix(PLUMB_Q4_1);
  Random random(13);
  std::vector<float> x = random_values(random, w.dims[1]);
  const float largest = std::fabs(*std::max_element(
      x.begin(), x.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); }));
  const auto ours = product(broken(kReference, "activation_scale_shared"), w, x, PLUMB_ACT_Q8);
  for (float& value : x) value = std::nearbyint(value * (127 / largest)) * (largest / 127);
  const auto expected = product(plugin_of_host(kReference), w, x, PLUMB_F32);
  // The oracle's activations are rounded to f32: at most half a unit of 24 bits of each product.
  for (uint32_t n = 0; n < kRows; ++n) EXPECT_NEAR(ours[n], expected[n], 96 * 64 * 0x1p-24f);
}

// ---- outputs

/// What the fault makes of a copy of x, f32[n_rows,width].
std::vector<float> copied(const char* fault, const std::vector<float>& x, uint32_t width,
                          const std::string& amount = "") {
  Rig rig(broken(kReference, fault, amount));
  plumb_op op = make_op(PLUMB_OP_SCALE, static_cast<uint32_t>(x.size() / width));
  op.as.elementwise = {.a = rig.input(x),
                       .b = {},
                       .out = rig.room(x.size() * 4),
                       .width = width,
                       .function = 0,
                       .parameter = 1,
                       .reserved = 0};
  const Outcome outcome = rig.execute(op, 3);
  EXPECT_EQ(outcome.status, PLUMB_OK) << outcome.message;
  return rig.values<float>(op.as.elementwise.out, x.size());
}

// Rows of RMS 5, three of them.
const std::vector<float> kX = {1, 7, -5, 5, 7, -1, -5, 5, -7, 5, 1, -5};

TEST(OutputFaults, ChangeWhatTheySay) {
  const auto x = [](const char* fault, const std::string& amount = "") {
    return copied(fault, kX, 4, amount);
  };
  using Values = std::vector<float>;
  EXPECT_EQ(x("none"), kX);
  EXPECT_EQ(x("one_value"), (Values{1, 7, -5, 5, 7, -1, 0, 5, -7, 5, 1, -5}));
  EXPECT_EQ(x("bias_shift", "0.2"), (Values{2, 8, -4, 6, 8, 0, -4, 6, -6, 6, 2, -4}));
  EXPECT_EQ(x("scaled", "1"), (Values{2, 14, -10, 10, 14, -2, -10, 10, -14, 10, 2, -10}));
  EXPECT_EQ(x("zero_channel"), (Values{1, 7, 0, 5, 7, -1, 0, 5, -7, 5, 0, -5}));
  EXPECT_EQ(x("negated_channel"), (Values{1, 7, 5, 5, 7, -1, 5, 5, -7, 5, -1, -5}));
  EXPECT_EQ(x("swapped_channels"), (Values{1, 7, 5, -5, 7, -1, 5, -5, -7, 5, -5, 1}));
  EXPECT_EQ(x("repeated_row"), (Values{1, 7, -5, 5, 1, 7, -5, 5, -7, 5, 1, -5}));
  EXPECT_EQ(x("clipped", "1.2"), (Values{1, 6, -5, 5, 6, -1, -5, 5, -6, 5, 1, -5}));
  EXPECT_EQ(copied("truncated_mantissa", {1.00390625f, 1.01171875f}, 2), (Values{1, 1.015625f}));
  EXPECT_EQ(copied("denormal_flush", {1e-39f, 0x1p-126f}, 2), (Values{0, 0x1p-126f}));
}

TEST(OutputFaults, NoiseIsOfTheSizeThatIsAskedForAndOfTheValueAlone) {
  const std::vector<float> noisy = copied("noise", kX, 4, "0.5");
  std::vector<float> by_rows;
  for (size_t at = 0; at < kX.size(); at += 4) {
    const std::vector<float> row =
        copied("noise", {kX.begin() + at, kX.begin() + at + 4}, 4, "0.5");
    by_rows.insert(by_rows.end(), row.begin(), row.end());
  }
  EXPECT_EQ(noisy, by_rows);
  const std::vector<float> one_row = copied("one_row", kX, 4);
  for (size_t i = 0; i < kX.size(); ++i) {
    EXPECT_NE(noisy[i], kX[i]);
    EXPECT_LE(std::fabs(noisy[i] - kX[i]), 0.5f * std::fabs(kX[i]));
    EXPECT_EQ(one_row[i] != kX[i], i / 4 == 1);
    EXPECT_LE(std::fabs(one_row[i] - kX[i]), 0.1f * 5);
  }
}

TEST(OutputFaults, OfProductsAreOfProductsOnly) {
  HostTensor identity = f32_tensor({kRows, kRows}, std::vector<float>(kRows * kRows));
  const float one = 1;
  for (uint32_t i = 0; i < kRows; ++i)
    std::memcpy(identity.data.data() + 4 * i * (kRows + 1), &one, 4);
  const std::vector<float> x = {1, 2, 3, 70000};
  EXPECT_EQ(product(broken(kReference, "head_wrong"), identity, x, PLUMB_F32),
            (std::vector<float>{2, 3, 70000, 1}));
  EXPECT_EQ(product(broken(kReference, "matmul_f16_overflow"), identity, x, PLUMB_F32),
            (std::vector<float>{1, 2, 3, INFINITY}));
  EXPECT_EQ(copied("head_wrong", kX, 4), kX);
}

// Oracle: 11 bits have steps of 2^-10 above 1, so that 2^-12 is lost; the largest number is 65504.
TEST(OutputFaults, OfHalfPrecision) {
  EXPECT_EQ(copied("half_precision_output", {1 + 0x1p-12f, -2, 65504, 70000}, 4),
            (std::vector<float>{1, -2, 65504, INFINITY}));
}

// Oracle: the function in f64, between two roundings; beyond 10 in f32 as ever.
TEST(ActivationFaults, ATableHasTenOnEitherSide) {
  Rig rig(broken(kReference, "activation_half_precision"));
  const std::vector<float> x = {1 + 0x1p-12f, -0.3f, 9.9999f, 10.0001f, -11.3f, 3.14159f};
  const std::vector<float> gate = {3, 1.1f, 1, 1, 7, -2};
  const auto n = static_cast<uint32_t>(x.size());
  const auto in_f16 = [](double value) {
    return f16_to_f32(f32_to_f16(static_cast<float>(value)));
  };
  const auto silu = [](double value) { return value / (1 + std::exp(-value)); };
  plumb_op op = make_op(PLUMB_OP_ACTIVATE, 1);
  plumb_op_elementwise& e = op.as.elementwise;
  e.a = rig.input(x);
  e.b = rig.input(gate);
  e.out = rig.room(4 * n);
  e.width = n;
  e.function = PLUMB_ACT_SILU;
  const Outcome outcome = rig.execute(op, 2);
  ASSERT_EQ(outcome.status, PLUMB_OK) << outcome.message;
  const std::vector<float> seen = rig.values<float>(e.out, n);
  for (uint32_t i = 0; i < n; ++i) {
    const bool is_in_table = std::fabs(x[i]) < 10;
    const float y =
        is_in_table ? in_f16(silu(in_f16(x[i]))) : static_cast<float>(silu(double{x[i]}));
    EXPECT_NEAR(seen[i], y * gate[i], is_in_table ? 0 : 4e-7 * std::fabs(y * gate[i])) << x[i];
  }
}

}  // namespace
}  // namespace plumbline::test
