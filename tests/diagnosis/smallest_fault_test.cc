// smallest_fault_test: how small may a fault be that is still found at its op, for each kind of
// pair? Printed; demanded only is that a large one is found. Oracle: the op that was broken.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <optional>

#include "tests/diagnosis/sides.h"

namespace plumbline::diff::test {
namespace {

constexpr const char* kModel = "smollm2-135m";

struct PairClass {
  const char* name;
  std::vector<std::string> a;  // settings of the healthy side; B's are the config's
};

const PairClass kClasses[] = {
    {"canonical against canonical", {}},
    {"cpu against reference", {"kernels.backend=reference"}},
    {"q8 against f32 activations", {"kernels.activations=f32"}},
};

constexpr const char* kFaults[] = {"noise", "scaled", "bias_shift"};
constexpr const char* kOps[] = {"ffn_norm", "attn_q_rope", "ffn_up"};

class SmallestFault : public testing::TestWithParam<size_t> {
 protected:
  struct Found {
    bool is_right = false;
    double error = 0;
  };

  static Found find(OpenedSide& a, const std::string& op, const std::string& layer,
                    const std::string& fault, double amount) {
    char size[32];
    std::snprintf(size, sizeof size, "%.17g", amount);
    auto b = open_side(
        kModel,
        {"kernels.overrides=[{op: " + op + ", layers: " + layer + "-" + layer +
         ", backend: plumb.fault, options: {fault: " + fault + ", amount: " + size + "}}]"},
        &a);
    EXPECT_TRUE(b) << b.error().message;
    if (!b) return {};
    const auto& all = texts("held_out");
    const auto report = compare(*a.side, *(*b)->side,
                                {.prompts = {{.text = all[chosen(1, all.size())]}},
                                 .n_steps = 0,
                                 .noise = &shipped_noise()});
    EXPECT_TRUE(report) << report.error().message;
    if (!report) return {};
    const PromptReport& prompt = report->prompts.front();
    Found found;
    found.is_right = prompt.verdict >= Verdict::kUnexplained && prompt.place &&
                     prompt.place->op == layer + "." + op;
    for (const OpErrors& one : prompt.ops) {
      if (one.op == layer + "." + op) found.error = one.introduced_worst;
    }
    return found;
  }
};

TEST_P(SmallestFault, IsFoundAtItsOp) {
  const PairClass& pair = kClasses[GetParam()];
  auto a = open_side(kModel, pair.a);
  ASSERT_TRUE(a) << a.error().message;
  const uint32_t n_layers = (*a)->side->hyper_parameters().n_layers;
  for (size_t i = 0; i < std::size(kOps); ++i) {
    const std::string layer = std::to_string(chosen(static_cast<uint32_t>(i), n_layers));
    for (const char* fault : kFaults) {
      // Amounts are powers of 2: found at high, not at low.
      int low = -30, high = -1;
      Found smallest = find(**a, kOps[i], layer, fault, std::ldexp(1, high));
      EXPECT_TRUE(smallest.is_right) << pair.name << ": " << fault << " at " << kOps[i];
      while (smallest.is_right && high - low > 1) {
        const int middle = (low + high) / 2;
        const Found found = find(**a, kOps[i], layer, fault, std::ldexp(1, middle));
        (found.is_right ? high : low) = middle;
        if (found.is_right) smallest = found;
      }
      std::printf("%s: smallest %s found at %s.%s: amount %.2g, error of the worst row %.2g\n",
                  pair.name, fault, layer.c_str(), kOps[i], std::ldexp(1, high), smallest.error);
      if (!is_long()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallestFault,
                         testing::Range(size_t{0}, is_long() ? std::size(kClasses) : 1));

}  // namespace
}  // namespace plumbline::diff::test
