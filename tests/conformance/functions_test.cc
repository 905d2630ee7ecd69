// The functions inside ops, of every plugin, on thousands of arguments. The oracle is mpmath with
// 200 bits, through golden/numerics; the bounds are those of elementwise cases, with exp 1.0,
// tanh 1.8 and erf 1.6 ULP.
#include <cmath>

#include "loaded_plugins.h"
#include "tests/support/npy.h"

namespace plumbline::test {

class Functions : public EachPlugin {
 protected:
  /// |y - true| <= roundoffs * (|true| * of_result + |x| * of_input) + absolute, for all of a
  /// golden file.
  void check(const std::string& name, uint32_t function, double of_result, double of_input,
             double absolute) {
    SCOPED_TRACE(name);
    const std::vector<float> x = npy_values<float>(golden_path("numerics/" + name + ".x.npy"));
    const std::vector<double> expected =
        npy_values<double>(golden_path("numerics/" + name + ".y.npy"));
    ASSERT_GT(x.size(), 1000u);
    ASSERT_EQ(x.size(), expected.size());
    plumb_op op = make_op(PLUMB_OP_ACTIVATE, 1);
    op.as.elementwise = {.a = rig_.input(x),
                         .b = {},
                         .out = rig_.room(x.size() * sizeof(float)),
                         .width = static_cast<uint32_t>(x.size()),
                         .function = function,
                         .parameter = 0,
                         .reserved = 0};
    const Outcome outcome = rig_.execute(op, 3);
    ASSERT_EQ(outcome.status, PLUMB_OK) << outcome.message;
    const std::vector<float> y = rig_.values<float>(op.as.elementwise.out, x.size());
    double worst = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      if (!std::isfinite(expected[i])) continue;
      const double bound =
          kRoundoff * (of_result * std::fabs(expected[i]) + of_input * std::fabs(double{x[i]})) +
          absolute;
      const double error = std::fabs(y[i] - expected[i]);
      EXPECT_LE(error, bound) << name << "(" << x[i] << ") = " << y[i] << ", true " << expected[i];
      worst = std::fmax(worst, error / bound);
    }
    std::cout << GetParam() << ": " << name << ", " << worst << " of the bound\n";
  }
};

TEST_P(Functions, SiluIsTrue) {
  check("silu", PLUMB_ACT_SILU, 8, 0, 0x1p-121);
}
TEST_P(Functions, GeluTanhIsTrue) {
  check("gelu_tanh", PLUMB_ACT_GELU_TANH, 6, 6, 2 * kSmallest);
}
TEST_P(Functions, GeluErfIsTrue) {
  check("gelu_erf", PLUMB_ACT_GELU_ERF, 6, 6, 2 * kSmallest);
}

PLUMB_FOR_EACH_PLUGIN(Functions);

}  // namespace plumbline::test
