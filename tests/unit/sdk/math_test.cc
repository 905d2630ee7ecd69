// Oracle: golden/math (mpmath, twice the precision of f64), and 80-bit arithmetic where the
// processor has it.
#include "plumb/sdk/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>

namespace plumbline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double ulp_of(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent - 53, -1074));
}

struct Table {
  const char* name;
  std::function<double(const double*)> function;
  int n_arguments;
  double max_ulp;
};

const Table kTables[] = {
    {"exp", [](const double* x) { return math::exp(x[0]); }, 1, 0.68},
    {"log", [](const double* x) { return math::log(x[0]); }, 1, 0.55},
    {"pow", [](const double* x) { return math::pow(x[0], x[1]); }, 2, 0.70},
    {"sin", [](const double* x) { return math::sin(x[0]); }, 1, 0.79},
    {"cos", [](const double* x) { return math::cos(x[0]); }, 1, 0.78},
};

TEST(Math, WithinItsStatedErrorOfMpmath) {
  for (const Table& table : kTables) {
    SCOPED_TRACE(table.name);
    std::ifstream in(std::string(PLUMB_SOURCE_DIR "/golden/math/") + table.name + ".txt");
    ASSERT_TRUE(in);
    int n = 0;
    for (std::string line; std::getline(in, line); ++n) {
      double x[4] = {};
      const char* at = line.c_str();
      for (int i = 0; i < table.n_arguments + 2; ++i) {
        char* end = nullptr;
        x[i] = std::strtod(at, &end);
        ASSERT_NE(end, at) << line;
        at = end;
      }
      const double value = x[table.n_arguments], rest = x[table.n_arguments + 1];
      const double got = table.function(x);
      // What is left of a subnormal result is below all numbers: there only neighbours can be told
      // apart.
      const double max_ulp = std::fabs(value) < DBL_MIN ? 1 : table.max_ulp;
      EXPECT_LE(std::fabs((got - value) - rest) / ulp_of(value), max_ulp)
          << line << ", got " << got;
    }
    EXPECT_GT(n, 800);
  }
}

#if LDBL_MANT_DIG >= 64
TEST(Math, WithinItsStatedErrorOfLongDouble) {
  std::mt19937_64 random(11);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
  };
  const auto expect = [](double got, long double want, double max_ulp) {
    const auto error = static_cast<double>(std::fabs(got - want));
    ASSERT_LE(error / ulp_of(static_cast<double>(want)), max_ulp) << "got " << got;
  };
  for (int i = 0; i < 100000; ++i) {
    double x = uniform(-708, 709.7);
    expect(math::exp(x), std::exp(static_cast<long double>(x)), 0.70);
    x = uniform(0.5, 2);
    expect(math::log(x), std::log(static_cast<long double>(x)), 0.56);
    x = std::ldexp(x, static_cast<int>(random() % 2000) - 1000);
    expect(math::log(x), std::log(static_cast<long double>(x)), 0.56);
    x = uniform(-0x1p20, 0x1p20);
    expect(math::sin(x), std::sin(static_cast<long double>(x)), 0.80);
    expect(math::cos(x), std::cos(static_cast<long double>(x)), 0.80);
    const double base = uniform(2, 1e7), exponent = uniform(-1, 0);
    expect(math::pow(base, exponent),
           std::pow(static_cast<long double>(base), static_cast<long double>(exponent)), 0.71);
  }
}
#endif

TEST(Math, RopeTablesInF32AreCorrectlyRounded) {
  // cos and sin of an f32 angle, as the host's tables hold them: an f64 within 1 ULP rounds like
  // the exact value, unless that lies within 2^-29 of the middle of two f32 numbers. Oracle: 80-bit
  // arithmetic, the C library.
  std::mt19937_64 random(12);
  for (int i = 0; i < 100000; ++i) {
    const auto angle =
        static_cast<float>(static_cast<double>(random() % 131072) *
                           std::pow(10000.0, -static_cast<double>(random() % 64) / 64));
    const auto exact = static_cast<long double>(angle);
    ASSERT_EQ(static_cast<float>(math::cos(angle)), static_cast<float>(std::cos(exact))) << angle;
    ASSERT_EQ(static_cast<float>(math::sin(angle)), static_cast<float>(std::sin(exact))) << angle;
  }
}

TEST(Math, Ends) {
  EXPECT_EQ(math::exp(0), 1);
  EXPECT_EQ(math::exp(kInfinity), kInfinity);
  EXPECT_EQ(math::exp(-kInfinity), 0);
  EXPECT_EQ(math::exp(709.79), kInfinity);
  EXPECT_EQ(math::exp(-745.2), 0);
  EXPECT_GT(math::exp(-745.1), 0);
  EXPECT_TRUE(std::isnan(math::exp(kNan)));
  EXPECT_EQ(math::log(1), 0);
  EXPECT_EQ(math::log(0), -kInfinity);
  EXPECT_EQ(math::log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(math::log(-1)));
  EXPECT_TRUE(std::isnan(math::log(kNan)));
  EXPECT_EQ(math::pow(10000, 0), 1);
  EXPECT_EQ(math::pow(2, 10), 1024);
  EXPECT_EQ(math::pow(1, 1e308), 1);
  EXPECT_EQ(math::pow(1 + 0x1p-52, 1e308), kInfinity);
  EXPECT_EQ(math::pow(2, 2000), kInfinity);
  EXPECT_EQ(math::pow(2, -2000), 0);
  EXPECT_TRUE(std::isnan(math::pow(0, 1)));
  EXPECT_TRUE(std::isnan(math::pow(2, kInfinity)));
  EXPECT_EQ(math::sin(0), 0);
  EXPECT_EQ(math::cos(0), 1);
  EXPECT_FALSE(std::isnan(math::sin(0x1p20)));
  EXPECT_TRUE(std::isnan(math::sin(0x1.0000000000001p20)));
  EXPECT_TRUE(std::isnan(math::cos(-kInfinity)));
}

static_assert(math::exp(0.0) == 1.0 && math::cos(0.0) == 1.0,
              "usable where a table is made at compile time");

}  // namespace
}  // namespace plumbline
