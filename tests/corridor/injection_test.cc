// Strangers who forge roles, on the tokenizers of real models. Oracle: attacked_prompts.h.
#include "tests/support/attacked_prompts.h"
#include "tests/support/pulled_model.h"

namespace plumbline::test {
namespace {

class InjectionRealModels : public testing::TestWithParam<const char*> {};

TEST_P(InjectionRealModels, NoAttackForgesARoleUnderAnyPublicTemplate) {
  const std::string model = pulled_model(GetParam());
  if (model.empty()) GTEST_SKIP() << "no " << GetParam() << ": plumb model pull " << GetParam();
  const auto all = attacks();
  size_t n_rendered = 0;
  for (const std::string& path : public_templates()) {
    SCOPED_TRACE(path);
    AttackedPrompts prompts(under_template(model, path));
    n_rendered += prompts.survive(all);
    EXPECT_GT(prompts.keep_parity(), 0u);
  }
  EXPECT_GT(n_rendered, 50 * all.size());
}

INSTANTIATE_TEST_SUITE_P(Models, InjectionRealModels,
                         testing::Values("smollm2-135m", "qwen2.5-coder-0.5b", "gemma3-270m"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           for (char& c : name) {
                             if (c == '-' || c == '.') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace plumbline::test
