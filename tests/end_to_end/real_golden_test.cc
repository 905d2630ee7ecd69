// The golden data of the three real models (golden/models/NAME/bundle.json) against our kernels:
// first step, 100 greedy ids, and Q8_0 and Q4_0 weights, bytes and logits. The oracle is
// transformers, and gguf-py for the bytes.
#include <gmock/gmock.h>

#include "tests/end_to_end/plumb_command.h"
#include "tests/support/pulled_model.h"

namespace plumbline::test {
namespace {

using nlohmann::json;

struct Model {
  const char* name;
  const char* config;
};

class RealGolden : public PlumbCommand, public testing::WithParamInterface<Model> {
 protected:
  void SetUp() override {
    model_ = pulled_model(GetParam().name);
    ASSERT_NE(model_, "") << GetParam().name << " is missing: plumb model pull " << GetParam().name;
  }
  /// The verdicts of all findings; all of them must be good.
  std::map<std::string, std::string> verify(const std::string& more) const {
    const Outcome ran =
        shell(std::string("$PLUMB golden verify $SOURCE/golden/models/") + GetParam().name + " " +
              GetParam().config + " --json --set model.source.path=" + model_ + " " + more);
    EXPECT_EQ(ran.exit, 0) << ran.err << ran.out;
    const json payload = json::parse(ran.out, nullptr, false);
    std::map<std::string, std::string> found;
    for (const json& one : payload["findings"]) {
      found[one["what"]] = one["verdict"];
      std::printf("%s %s: %s\n", GetParam().name, one["what"].get<std::string>().c_str(),
                  one["statement"].get<std::string>().c_str());
    }
    EXPECT_EQ(payload["is_independent"], true);
    return found;
  }

  std::string model_;
};

TEST_P(RealGolden, IdsAreExactAndLogitsWithinTheNoise) {
  const auto found = verify("--set kernels.activations=f32");
  EXPECT_EQ(found.at("capital: ids of the prompt"), "MATCH");
  EXPECT_EQ(found.at("capital: greedy ids"), "MATCH");
  EXPECT_EQ(found.at("Q8_0: tensors"), "MATCH");
  EXPECT_EQ(found.at("Q4_0: tensors"), "MATCH");
  EXPECT_EQ(found.size(), 10u);
}

TEST_P(RealGolden, QuantisedActivationsStayWithinTheirNoise) {
  const auto found = verify("--skip-requantised --set kernels.activations=q8");
  EXPECT_EQ(found.size(), 4u);
}

TEST_P(RealGolden, TheReferenceBackendAgreesOnTheFirstStep) {
  const auto found = verify(
      "--skip-requantised --tokens 1 --set kernels.backend=reference "
      "--set kernels.activations=f32");
  EXPECT_EQ(found.at("capital: greedy ids"), "MATCH");
}

INSTANTIATE_TEST_SUITE_P(Golden, RealGolden,
                         testing::Values(Model{"smollm2-135m", "smollm2"},
                                         Model{"gemma3-270m", "gemma3"},
                                         Model{"qwen2.5-coder-0.5b", "qwen2.5-coder"}),
                         [](const auto& one) { return std::to_string(one.index); });

}  // namespace
}  // namespace plumbline::test
