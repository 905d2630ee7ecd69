// What a config may say to plumb.fault. Oracle: the rules of messages: seen, expected, nearest.
#include <gtest/gtest.h>

#include "state.h"

namespace plumbline::fault {
namespace {

std::string refused(std::string_view json) {
  const auto options = parse_options(json);
  if (options) return "accepted";
  EXPECT_EQ(options.error().code, PLUMB_INVALID_CONFIG);
  return options.error().message;
}

TEST(FaultOptions, HaveDefaults) {
  const auto options = parse_options(R"({"fault": "norm_epsilon"})");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->fault->name, "norm_epsilon");
  EXPECT_EQ(options->inner, "auto");
  EXPECT_EQ(options->variant, "auto");
  EXPECT_EQ(options->amount, 10);
}

TEST(FaultOptions, AreTaken) {
  const auto options = parse_options(
      R"({"inner": "plumb.cpu.avx512", "variant": "avx512", "fault": "scaled", "amount": -0.5})");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->fault->name, "scaled");
  EXPECT_EQ(options->inner, "plumb.cpu.avx512");
  EXPECT_EQ(options->variant, "avx512");
  EXPECT_EQ(options->amount, -0.5);
}

TEST(FaultOptions, MistakesAreNamed) {
  const struct {
    std::string_view json;
    std::string_view message;
  } cases[] = {
      {"", "options: expected a map with inner, variant, fault and amount"},
      {"[1]", "options: expected a map with inner, variant, fault and amount"},
      {"{}", "options: no fault, expected one that backends/fault/README.md lists"},
      {R"({"fault": "rope_pairng"})",
       "options: no fault rope_pairng, expected one that backends/fault/README.md lists; did you "
       "mean \"rope_pairing\"?"},
      {R"({"fault": 3})", "options: fault 3, expected a name"},
      {R"({"fault": "none", "iner": "auto"})",
       "options: unknown key iner, expected one of inner, variant, fault, amount; did you mean "
       "\"inner\"?"},
      {R"({"fault": "rope_sign", "amount": 2})", "options: amount 2: rope_sign takes none"},
      {R"({"fault": "norm_epsilon", "amount": "2"})",
       "options: amount \"2\" of norm_epsilon, expected a number from 0.0 to 1000000.0"},
      {R"({"fault": "norm_epsilon", "amount": -1})",
       "options: amount -1 of norm_epsilon, expected a number from 0.0 to 1000000.0"},
      {R"({"fault": "kv_stale_row", "amount": 1e300})",
       "options: amount 1e+300 of kv_stale_row, expected a number from 0.0 to 16777216.0"},
  };
  for (const auto& one : cases) EXPECT_EQ(refused(one.json), one.message) << one.json;
}

}  // namespace
}  // namespace plumbline::fault
