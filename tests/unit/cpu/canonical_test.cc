// Every variant of the class canonical-1 gives the bits of naive_canonical, the text of
// core/doc/numerics.md as loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "naive_canonical.h"
#include "tests/support/kernels_harness.h"
#include "tests/support/random_tensors.h"

namespace plumbline::test {
namespace {

constexpr plumb_format kFormatsUnderTest[] = {
    PLUMB_F32,  PLUMB_F16,  PLUMB_BF16, PLUMB_Q4_0, PLUMB_Q4_1, PLUMB_Q5_0, PLUMB_Q5_1,
    PLUMB_Q8_0, PLUMB_Q2_K, PLUMB_Q3_K, PLUMB_Q4_K, PLUMB_Q5_K, PLUMB_Q6_K};

std::vector<KernelsPlugin> canonical_kernels() {
  std::vector<KernelsPlugin> found = find_kernels(PLUMB_BUILD_PLUGIN_DIR).runnable;
  std::erase_if(found, [](const KernelsPlugin& one) { return one.numerics != "canonical-1"; });
  return found;
}

void expect_bits(const std::vector<float>& seen, const std::vector<float>& expected,
                 const std::string& what) {
  ASSERT_EQ(seen.size(), expected.size()) << what;
  for (size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(seen[i]), std::bit_cast<uint32_t>(expected[i]))
        << what << ", element " << i << ": " << seen[i] << ", expected " << expected[i];
  }
}

class Canonical : public ::testing::TestWithParam<KernelsPlugin> {
 protected:
  std::vector<float> run(const plumb_op& op, plumb_slice out, uint64_t n, uint32_t n_parts) {
    const Outcome outcome = rig_.execute(op, n_parts);
    EXPECT_EQ(outcome.status, PLUMB_OK) << outcome.message;
    return rig_.values<float>(out, n);
  }

  std::vector<float> matmul(const HostTensor& tensor, plumb_slice in, plumb_format in_format,
                            uint32_t T, uint32_t n_parts) {
    const auto n_out = static_cast<uint32_t>(tensor.dims[0]),
               n_in = static_cast<uint32_t>(tensor.dims[1]);
    plumb_op op = make_op(PLUMB_OP_MATMUL, T);
    const plumb_slice out = rig_.room(uint64_t{T} * n_out * sizeof(float));
    op.as.matmul = {rig_.weight(tensor, PLUMB_USE_MATMUL), 0, in, out, in_format, n_in, n_out, 0};
    return run(op, out, uint64_t{T} * n_out, n_parts);
  }

  Rig rig_{GetParam()};
  Random random_{20};
};

TEST_P(Canonical, MatmulOfEveryFormat) {
  for (const plumb_format format : kFormatsUnderTest) {
    const FormatInfo& info = *find_format(format);
    for (const uint32_t T : {1u, 2u, 7u}) {
      const uint64_t n_in = info.block_values == 256 ? 512 : info.block_values == 32 ? 96 : 77;
      const HostTensor tensor =
          random_tensor(random_, format, {37, n_in}, Inputs::kOrdinary, T == 2);
      const std::vector<float> x = random_values(random_, T * n_in);
      const std::string what = std::string(info.name) + ", T " + std::to_string(T);
      expect_bits(matmul(tensor, rig_.input(x), PLUMB_F32, T, std::min(T, Rig::kWorkers)),
                  naive_matmul_f32(tensor, x, T), what + ", f32");
      if (info.is_quantised) {
        const plumb_slice in = rig_.quantised(rig_.input(x), T, static_cast<uint32_t>(n_in));
        expect_bits(matmul(tensor, in, PLUMB_ACT_Q8, T, std::min(T, Rig::kWorkers)),
                    naive_matmul_q8(tensor, naive_quantize(x), T), what + ", q8");
      }
      rig_.clear();
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Canonical, QuantizedBlocksOfEverySize) {
  // One unit weight a row reads the activations back: code * d.
  std::vector<float> x = random_values(random_, 32 * 8);
  for (size_t i = 0; i < x.size(); ++i) {
    const int exponents[] = {0, 120, -99, -100, -101, -130, -149, 20};
    x[i] = std::ldexp(x[i], exponents[i / 32] / 2) *
           std::ldexp(1.0f, exponents[i / 32] - exponents[i / 32] / 2);
  }
  x[0] = -0.0f;
  for (size_t i = 32 * 7; i < 32 * 8; ++i)
    x[i] = static_cast<float>(i % 2 == 0 ? 0.5 : 127);  // ties
  HostTensor unit{PLUMB_Q8_0, {32, 32}, std::vector<uint8_t>(32 * sizeof(plumb_block_q8_0))};
  for (size_t n = 0; n < 32; ++n) {
    plumb_block_q8_0 block{};
    block.d = 0x3c00;
    block.qs[n] = 1;
    std::memcpy(unit.data.data() + n * sizeof block, &block, sizeof block);
  }
  const plumb_slice in = rig_.quantised(rig_.input(x), 8, 32);
  expect_bits(matmul(unit, in, PLUMB_ACT_Q8, 8, 1), naive_matmul_q8(unit, naive_quantize(x), 8),
              "unit matrix");
}

TEST_P(Canonical, Norms) {
  for (const uint32_t width : {1u, 15u, 16u, 33u, 576u}) {
    const std::vector<float> x = random_values(random_, width), w = random_values(random_, width),
                             b = random_values(random_, width);
    const HostTensor weight = f32_tensor({width}, w), bias = f32_tensor({width}, b);
    for (const bool is_layer : {false, true}) {
      plumb_op op = make_op(is_layer ? PLUMB_OP_LAYER_NORM : PLUMB_OP_RMS_NORM, 1);
      const plumb_slice out = rig_.room(width * sizeof(float));
      op.as.norm = {rig_.input(x),
                    out,
                    rig_.weight(weight, PLUMB_USE_VECTOR),
                    is_layer ? rig_.weight(bias, PLUMB_USE_VECTOR) : 0,
                    1,
                    width,
                    1e-5f,
                    0};
      expect_bits(run(op, out, width, 2),
                  is_layer ? naive_layer_norm(x, w, b, 1e-5f) : naive_rms_norm(x, w, 1e-5f),
                  "width " + std::to_string(width));
    }
    rig_.clear();
  }
}

TEST_P(Canonical, AttentionOfEveryTiling) {
  const NaiveAttention shapes[] = {{1, 1, 2, 1, 16, 0.25f, 0},
                                   {1, 130, 6, 2, 40, 0.2f, 0},
                                   {9, 37, 4, 1, 64, 0.125f, 0},
                                   {21, 21, 3, 3, 7, 0.3f, 5.0f},
                                   {40, 100, 4, 2, 80, 0.1f, 0}};
  for (const NaiveAttention& shape : shapes) {
    const auto T = static_cast<uint32_t>(shape.n_rows), S = static_cast<uint32_t>(shape.n_rows_kv);
    const auto H = static_cast<uint32_t>(shape.n_heads),
               C = static_cast<uint32_t>(shape.head_width);
    const std::vector<float> q = random_values(random_, shape.n_rows * H * C);
    const std::vector<float> k = random_values(random_, uint64_t{S} * shape.n_heads_kv * C);
    const std::vector<float> v = random_values(random_, k.size());
    std::vector<int32_t> positions(S);
    for (size_t s = 0; s < S; ++s) positions[s] = static_cast<int32_t>(s);

    plumb_op append = make_op(PLUMB_OP_KV_APPEND, S);
    append.as.kv_append = {rig_.kv(S + 3, static_cast<uint32_t>(shape.n_heads_kv), C),
                           rig_.input(k),
                           rig_.input(v),
                           rig_.input(positions),
                           0,
                           0};
    ASSERT_EQ(rig_.execute(append, 2).status, PLUMB_OK);
    plumb_op op = make_op(PLUMB_OP_ATTEND, T);
    const std::vector<int32_t> last(positions.end() - T, positions.end());
    const plumb_slice out = rig_.room(q.size() * sizeof(float));
    op.as.attend = {append.as.kv_append.kv,
                    rig_.input(q),
                    out,
                    rig_.input(last),
                    {},
                    S,
                    0,
                    H,
                    PLUMB_MASK_CAUSAL,
                    0,
                    shape.scale,
                    shape.softcap,
                    0};
    const std::vector<float> expected = naive_attend(shape, q, k, v);
    for (const uint32_t n_parts : {1u, 5u}) {
      expect_bits(run(op, out, q.size(), n_parts), expected,
                  "T " + std::to_string(T) + " S " + std::to_string(S));
    }
    rig_.clear();
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, Canonical, ::testing::ValuesIn(canonical_kernels()),
                         [](const auto& tested) {
                           std::string name = tested.param.name();
                           for (char& c : name) c = c == '.' || c == '/' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace plumbline::test
