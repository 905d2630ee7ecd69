// exp, tanh and erf against the C library in double precision, in units in the last place of the
// f32 nearest to the true value. The bounds are the ones that backends/cpu/kernels/math.h states.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "backends/cpu/kernels/math.h"

namespace plumbline::cpu::scalar {
namespace {

/// The distance from `seen` to `truth` in f32 steps at truth's size.
double error_in_ulp(float seen, double truth) {
  const float nearest = static_cast<float>(truth);
  if (std::isinf(nearest)) return seen == nearest ? 0 : HUGE_VAL;
  const float up = std::nextafter(std::fabs(nearest), HUGE_VALF);
  return std::fabs(double{seen} - truth) / (double{up} - std::fabs(double{nearest}));
}

/// Every 307th f32 of both signs up to the limit, so all sizes of argument.
template <typename Seen, typename Truth>
double worst_error(float limit, Seen seen, Truth truth) {
  double worst = 0;
  float at = 0;
  float batch[kWidth], out[kWidth];
  for (uint32_t word = 0; word <= std::bit_cast<uint32_t>(limit);) {
    for (int i = 0; i < kWidth; ++i, word += 307) batch[i] = std::bit_cast<float>(word);
    for (int i = 0; i < kWidth; ++i) batch[i] = i % 2 == 0 ? batch[i] : -batch[i];
    store(out, seen(load(batch)));
    for (int i = 0; i < kWidth; ++i) {
      const double error = error_in_ulp(out[i], truth(double{batch[i]}));
      if (error > worst) {
        worst = error;
        at = batch[i];
      }
    }
  }
  std::cout << "worst: " << worst << " ulp at " << at << "\n";
  return worst;
}

TEST(Functions, ExpWithin1Ulp) {
  EXPECT_LT(worst_error(
                110.0f, [](f32x16 x) { return cpu::scalar::exp(x); },
                [](double x) { return std::exp(x); }),
            1.0);
}
TEST(Functions, TanhWithin1_8Ulp) {
  EXPECT_LT(worst_error(
                20.0f, [](f32x16 x) { return cpu::scalar::tanh(x); },
                [](double x) { return std::tanh(x); }),
            1.8);
}
TEST(Functions, ErfWithin1_6Ulp) {
  EXPECT_LT(
      worst_error(
          6.0f, [](f32x16 x) { return cpu::scalar::erf(x); }, [](double x) { return std::erf(x); }),
      1.6);
}

TEST(Functions, Extremes) {
  const float inf = HUGE_VALF;
  const auto exp_of = [](float x) { return cpu::scalar::exp(splat(x)).v[0]; };
  EXPECT_EQ(exp_of(inf), inf);
  EXPECT_EQ(exp_of(89.0f), inf);
  EXPECT_EQ(std::bit_cast<uint32_t>(exp_of(-inf)), 0u);
  EXPECT_EQ(std::bit_cast<uint32_t>(exp_of(-1e30f)), 0u);
  EXPECT_EQ(exp_of(0.0f), 1.0f);
  EXPECT_EQ(exp_of(-103.0f), 0x1p-149f);
  EXPECT_EQ(cpu::scalar::tanh(splat(-inf)).v[0], -1.0f);
  EXPECT_EQ(cpu::scalar::erf(splat(inf)).v[0], 1.0f);
}

}  // namespace
}  // namespace plumbline::cpu::scalar
