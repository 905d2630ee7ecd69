// What is no match though every door that was compared agrees, and where a difference is placed.
// Oracle: the exchange that each test makes; kernels that this file breaks at a call of its choice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/diff/engine.h"
#include "tests/support/diff_sides.h"

namespace plumbline::diff {
namespace {

using test::MadeSide;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kModel = "tiny-world";

DiffRequest on_text() {
  DiffRequest request;
  request.prompts = {{.text = "Once upon a time there was a captain"}};
  return request;
}

DiffRequest on_messages(const char* content) {
  DiffRequest request;
  request.prompts.resize(1);
  request.prompts[0].messages =
      pipeline::OrderedJson::array({{{"role", "user"}, {"content", "Hello"}},
                                    {{"role", "assistant"}, {"content", content}},
                                    {{"role", "user"}, {"content", "Go on"}}});
  return request;
}

Report compare(const std::vector<std::string>& of_a, const std::vector<std::string>& of_b,
               const DiffRequest& request) {
  const auto a = test::make_side(kModel, of_a), b = test::make_side(kModel, of_b);
  if (a == nullptr || b == nullptr) return {};
  auto report = diff::compare(*a->side, *b->side, request);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  return report ? *std::move(report) : Report{};
}

// A side on the kernels of another, some of whose calls get other ops.
class Broken : public Side {
 public:
  using Strike = void (*)(std::vector<plumb_op>& ops);

  Broken(MadeSide& of, Strike strike) : Side(of.config, *of.pipeline), of_(of) {
    identity_ = of.side->identity();
    numerics_ = of.side->numerics();
    hyper_parameters_ = of.side->hyper_parameters();
    const auto kernels = test::host().find<plumb_kernels>({.pin = "plumb.cpu.scalar"});
    EXPECT_TRUE(kernels) << (kernels ? "" : kernels.error().message);
    execute_ = kernels->table->execute;
    strike_ = strike;
    table_ = *kernels->table;
    table_.execute = execute;
    auto backend = model::Backend::create("broken", table_, kernels->host,
                                          of.pipeline->threads().n_threads(), "{}", "");
    EXPECT_TRUE(backend) << (backend ? "" : backend.error().message);
    backend_ = *std::move(backend);
    model::DecoderOptions options;
    options.backends = {backend_.get()};
    auto decoder = model::Decoder::create(of.pipeline->file(), of.pipeline->threads(), options);
    EXPECT_TRUE(decoder) << (decoder ? "" : decoder.error().message);
    decoder_ = *std::move(decoder);
  }

  const NumericsClass* op_class(std::string_view op) const override {
    return of_.side->op_class(op);
  }
  const std::vector<std::string>& op_names() const override { return of_.side->op_names(); }
  Result<void> restart() override { return decoder_->truncate(0); }
  Result<std::span<const float>> forward(std::span<const int32_t> ids,
                                         const ForwardRequest&) override {
    return decoder_->forward(ids);
  }
  model::Decoder* decoder() override { return decoder_.get(); }
  Result<model::Decoder*> twin(size_t) override {
    PLUMB_ASSIGN(twin_, decoder_->twin());
    return twin_.get();
  }

 private:
  static plumb_status PLUMB_CALL execute(void* self, const plumb_op* ops, uint32_t n_ops,
                                         plumb_handle worker, uint32_t part, uint32_t n_parts,
                                         plumb_error* error) {
    std::vector<plumb_op> others(ops, ops + n_ops);
    strike_(others);
    return execute_(self, others.data(), n_ops, worker, part, n_parts, error);
  }

  static inline decltype(plumb_kernels::execute) execute_;
  static inline Strike strike_;

  MadeSide& of_;
  plumb_kernels table_;
  std::unique_ptr<model::Backend> backend_;
  std::unique_ptr<model::Decoder> decoder_, twin_;
};

// Of the first norm among them: another epsilon.
bool change_a_norm(std::vector<plumb_op>& ops) {
  const auto norm = std::ranges::find(ops, uint32_t{PLUMB_OP_RMS_NORM}, &plumb_op::kind);
  if (norm == ops.end()) return false;
  norm->as.norm.epsilon = 1;
  return true;
}

Report compare_broken(Broken::Strike strike, const DiffRequest& request) {
  const std::vector<std::string> one_thread{"kernels.threads=1"};
  const auto a = test::make_side(kModel, one_thread), of_b = test::make_side(kModel, one_thread);
  if (a == nullptr || of_b == nullptr) return {};
  Broken b(*of_b, strike);
  auto report = diff::compare(*a->side, b, request);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  return report ? *std::move(report) : Report{};
}

TEST(DiffRules, WhatDiffersInOneOfTwoRunsIsKept) {
  static bool has_struck;
  has_struck = false;
  const Report report = compare_broken(
      [](std::vector<plumb_op>& ops) {
        if (!has_struck) has_struck = change_a_norm(ops);
      },
      on_text());
  EXPECT_TRUE(has_struck);
  EXPECT_EQ(report.verdict, Verdict::kWrong);
  const PromptReport& prompt = report.prompts.at(0);
  EXPECT_THAT(prompt.notes, ElementsAre(HasSubstr("not repeatable")));
  ASSERT_TRUE(prompt.place);
  EXPECT_EQ(prompt.place->op, "0.attn_norm");
  EXPECT_FALSE(prompt.cause);
}

// The last of several matrix products also writes where the first does.
TEST(DiffRules, KernelsThatAreWrongInListsOfOpsAloneAreNoMatch) {
  for (const uint32_t n_steps : {2u, 4u}) {
    DiffRequest request = on_text();
    request.n_steps = n_steps;
    const Report report = compare_broken(
        [](std::vector<plumb_op>& ops) {
          if (ops.size() > 1 && ops.back().kind == PLUMB_OP_MATMUL)
            ops.back().as.matmul.out = ops.front().as.matmul.out;
        },
        request);
    EXPECT_EQ(report.verdict, Verdict::kUnexplained) << n_steps;
    EXPECT_THAT(report.prompts.at(0).notes, ElementsAre(HasSubstr("B: logits are others")));
  }
}

TEST(DiffRules, WhoWroteABytesIsPartOfThePrompt) {
  const DiffRequest request = on_messages("Once");
  EXPECT_EQ(compare({}, {}, request).verdict, Verdict::kMatch);
  const Report report = compare({}, {"template.assistant=untrusted"}, request);
  EXPECT_EQ(report.verdict, Verdict::kWrong);
  const PromptReport& prompt = report.prompts.at(0);
  ASSERT_TRUE(prompt.place);
  EXPECT_EQ(prompt.place->door, Door::kPrompt);
  EXPECT_THAT(prompt.place->seen_a, HasSubstr("the operator's"));
  EXPECT_THAT(prompt.place->seen_b, HasSubstr("a stranger's"));
}

TEST(DiffRules, AChoiceThatNoDoorLookedAtIsNoMatch) {
  DiffRequest ids = on_text();
  ids.prompts = {{.ids = {1, 7, 30}}};
  const std::string tokenizer = "tokenizer.special=off";
  EXPECT_EQ(compare({}, {tokenizer}, on_text()).verdict, Verdict::kMatch);
  const Report of_ids = compare({}, {tokenizer}, ids);
  EXPECT_EQ(of_ids.verdict, Verdict::kUnexplained);
  EXPECT_THAT(of_ids.notes, Contains(HasSubstr("10 tokens")));

  DiffRequest no_tokens = on_text();
  no_tokens.n_steps = 0;
  const Report of_stages = compare({}, {"sampling.stages=[top_k: {k: 1}, greedy]"}, no_tokens);
  EXPECT_EQ(of_stages.verdict, Verdict::kUnexplained);
  EXPECT_THAT(of_stages.notes, Contains(HasSubstr("40 pick")));

  const Report of_seed = compare({}, {"sampling.seed=7"}, no_tokens);
  EXPECT_EQ(of_seed.verdict, Verdict::kMatch);
  EXPECT_THAT(of_seed.notes, ElementsAre(HasSubstr("coins were of seed 1")));
}

// plumb.fault doubles each row, which no code of the weights or activations excuses.
TEST(DiffRules, AFaultBetweenOtherCodesIsPlacedInThePrompt) {
  const Report report = compare({},
                                {"kernels.activations=f32",
                                 "kernels.overrides=[{op: ffn_down, layers: 1-1, backend: "
                                 "plumb.fault, options: {inner: plumb.cpu.scalar, fault: scaled, "
                                 "amount: 1.0}}]"},
                                on_text());
  const PromptReport& prompt = report.prompts.at(0);
  const auto op = std::ranges::find(prompt.ops, "1.ffn_down", &OpErrors::op);
  ASSERT_NE(op, prompt.ops.end());
  ASSERT_TRUE(op->example);
  EXPECT_TRUE(op->example->is_over);
  EXPECT_LT(op->example->computed_at, prompt.ids_a.size());
}

TEST(DiffRules, APromptThatCannotRunIsNamedBeforeAnythingRuns) {
  const auto a = test::make_side(kModel), b = test::make_side(kModel);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const std::vector<std::pair<PromptInput, const char*>> cases = {
      {{.text = ""}, "no ids"},
      {{.ids = {1, 99999}}, "id 99999"},
      {{.ids = std::vector<int32_t>(100000, 1)}, "context.length"}};
  for (const auto& [input, why] : cases) {
    DiffRequest request = on_text();
    request.prompts.push_back(input);
    std::vector<std::string> said;
    const auto report = diff::compare(*a->side, *b->side, request,
                                      [&](const std::string& what) { said.push_back(what); });
    ASSERT_FALSE(report) << why;
    EXPECT_EQ(report.error().code, PLUMB_INVALID_ARGUMENT);
    EXPECT_THAT(report.error().message, testing::StartsWith("prompt 2: side A: "));
    EXPECT_THAT(report.error().message, HasSubstr(why));
    EXPECT_THAT(said, IsEmpty());
  }
}

}  // namespace
}  // namespace plumbline::diff
