// Oracle: the known answers of the Random123 distribution (kat_vectors, philox 4x32 10), and the
// layout that core/doc/samplers.md states.
#include "plumb/sdk/philox.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace plumbline {
namespace {

using Counter = std::array<uint32_t, 4>;

TEST(Philox, KnownAnswers) {
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32_10({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, CoinsAreTheDocumentedBits) {
  // Words 0 and 1 of the first known answer: seed 0, step 0.
  EXPECT_EQ(coin_cdf(0, 0), static_cast<double>(0xe169c58d6627e8d5 >> 11) * 0x1p-53);
  const Counter words = philox4x32_10({0x9abcdef0, 0x12345678, 77, 1}, {0x89abcdef, 0x01234567});
  const uint64_t bits = uint64_t{words[1]} << 32 | words[0];
  EXPECT_EQ(coin_gumbel(0x0123456789abcdef, 0x123456789abcdef0, 77),
            (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52);
  // By the same rounds written down in Python.
  EXPECT_EQ(coin_xtc(0, 0), 0x1.5beb41b7ba5f8p-1);
  EXPECT_EQ(coin_xtc(0x123456789abcdef0, 0x1ffffffff), 0x1.4dd9e9898462ep-2);
}

TEST(Philox, CoinsStayInTheirIntervals) {
  double low = 1, high = 0, sum = 0;
  constexpr int kCoins = 100000;
  for (int i = 0; i < kCoins; ++i) {
    const double gumbel = coin_gumbel(3, 4, i), cdf = coin_cdf(3, static_cast<uint64_t>(i));
    ASSERT_TRUE(gumbel > 0 && gumbel < 1 && cdf >= 0 && cdf < 1);
    low = std::min(low, gumbel);
    high = std::max(high, gumbel);
    sum += gumbel;
  }
  // 100,000 uniforms: the ends come within 1e-3 but for a chance of e^-100, the mean within 5 sigma
  // of 1/2.
  EXPECT_LT(low, 1e-3);
  EXPECT_GT(high, 1 - 1e-3);
  EXPECT_NEAR(sum / kCoins, 0.5, 5 * 0.2887 / 316);
}

}  // namespace
}  // namespace plumbline
