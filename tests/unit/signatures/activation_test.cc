// activation_test: the evaluator's curves against mpmath's.
#include <gtest/gtest.h>

#include <cmath>

#include "core/diff/op_evaluator.h"
#include "tests/support/npy.h"

namespace plumbline::diff {
namespace {

// Golden: mpmath with 200 bits, rounded to f64. The functions of <cmath> are good to a few units of
// it, and where 1 + tanh cancels, to a few units of 1.
TEST(Activation, IsTheGoldenCurve) {
  const std::pair<const char*, uint32_t> curves[] = {{"silu", PLUMB_ACT_SILU},
                                                     {"gelu_tanh", PLUMB_ACT_GELU_TANH},
                                                     {"gelu_erf", PLUMB_ACT_GELU_ERF}};
  for (const auto& [name, function] : curves) {
    const std::string base = PLUMB_SOURCE_DIR "/golden/numerics/" + std::string(name);
    const auto x = plumbline::test::npy_values<float>(base + ".x.npy");
    const auto y = plumbline::test::npy_values<double>(base + ".y.npy");
    ASSERT_EQ(x.size(), y.size());
    for (size_t i = 0; i < x.size(); ++i) {
      if (!std::isfinite(y[i])) continue;
      const double bound = 0x1p-49 * (std::abs(y[i]) + std::abs(double{x[i]}));
      EXPECT_NEAR(activation(function, x[i]), y[i], bound) << name << "(" << x[i] << ")";
    }
  }
}

}  // namespace
}  // namespace plumbline::diff
