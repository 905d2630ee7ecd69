// diff from outside: pairs that a comparison may take for equal though they are not.
// Oracle: what was exchanged; core/doc/diff.md, "Verdicts".
#include <gmock/gmock.h>

#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class DiffVerb : public PlumbCommand {
 protected:
  nlohmann::json report() const { return nlohmann::json::parse(read_file(path("r.json"))); }
};

TEST_F(DiffVerb, AnotherTemplateIsNoMatchOfRawTexts) {
  const Outcome ran = shell(
      "$PLUMB diff tiny-world --swap template.undefined=hf -p 'Mara lives in' --tokens 1 "
      "-o r.json");
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("the chat templates differ"));
  EXPECT_THAT(ran.out, HasSubstr("a raw text was given"));
}

TEST_F(DiffVerb, WithoutPromptsConversationsShowAnotherTemplate) {
  const Outcome ran = shell(
      "$PLUMB diff tiny-world --swap template.path=$SOURCE/golden/templates/public/alpaca.jinja "
      "--tokens 0 -o r.json");
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  EXPECT_EQ(report()["verdict"], "WRONG");
  EXPECT_EQ(report()["prompts"].size(), 10u);
  EXPECT_EQ(report()["prompts"][8]["place"]["door"], "00 prompt");
}

TEST_F(DiffVerb, ChainedWithoutTokensComparesThePromptsLogits) {
  const Outcome ran = shell(
      "$PLUMB diff tiny-world --swap activations=f32 -p 'Mara lives in' --mode chained --tokens 0 "
      "-o r.json");
  ASSERT_LE(ran.exit, 1) << ran.err;
  EXPECT_NE(report()["verdict"], "MATCH");
  EXPECT_EQ(report()["prompts"][0]["logits"].size(), 1u);
}

TEST_F(DiffVerb, ASwapThatChangesNothingIsTold) {
  const std::string diff = "$PLUMB diff tiny-world -p Mara --tokens 0 --swap kv=f32";
  const Outcome idle = shell(diff);
  EXPECT_EQ(idle.exit, 0) << idle.out << idle.err;
  EXPECT_THAT(idle.out, HasSubstr("`--swap kv=f32` changes nothing: A has f32 already"));
  const Outcome both = shell(diff + " --swap kernels.activations=f32");
  EXPECT_THAT(both.out, HasSubstr("`--swap kv=f32` changes nothing"));
  EXPECT_THAT(both.out, Not(HasSubstr("activations=f32` changes nothing")));
}

// Oracle: the fault: its product alone is off, by 0.001, which all three parts together could hide.
TEST_F(DiffVerb, OfASplitProductThePartBeyondItsBoundIsTold) {
  const Outcome ran = shell(
      "$PLUMB diff tiny-world -p 'Mara lives in' --tokens 0 --swap activations=f32 --swap "
      "'kernels.overrides=[{op: ffn_down, layers: 1-1, backend: plumb.fault, "
      "options: {fault: scaled, amount: 0.001}}]'");
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("error    by the kernels 1.0e-03"));
  EXPECT_THAT(ran.out, HasSubstr("by the kernels; all introduced"));
}

TEST_F(DiffVerb, AFaultThatNoPlacedOpCanHaveIsRefused) {
  const Outcome ran = shell(
      "$PLUMB diff tiny-world -p Mara --tokens 0 --swap 'kernels.overrides=[{op: attn_q_rope, "
      "layers: 1-1, backend: plumb.fault, options: {fault: norm_epsilon}}]'");
  EXPECT_GT(ran.exit, 1) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("fault norm_epsilon needs an op of rms_norm, layer_norm"));
}

TEST_F(DiffVerb, AScriptThatEndsEarlyIsWrong) {
  const Outcome ran = shell(
      "$PLUMB diff tiny-world --set 'sampling.stages=[scripted: {ids: [5, 6, 7]}]' "
      "--swap 'sampling.stages=[scripted: {ids: [5]}]' -p 'Mara lives in' -o r.json");
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  EXPECT_EQ(report()["prompts"][0]["place"]["door"], "40 pick");
}

// cdf is what a config without a draw resolves to.
TEST_F(DiffVerb, ADrawThatOneSideNamesIsComparedWithWhatTheOtherResolvesTo) {
  const std::string diff =
      "$PLUMB diff tiny-world --set 'sampling.stages=[temperature: {t: 1}, draw]' -p Mara --tokens "
      "2 ";
  const Outcome open = shell(diff + "--swap threads=1");
  EXPECT_EQ(open.exit, 0) << open.out << open.err;
  EXPECT_THAT(open.out, HasSubstr("both sides draw by gumbel"));
  const Outcome named = shell(diff + "--swap draw=cdf");
  EXPECT_EQ(named.exit, 0) << named.out << named.err;
  EXPECT_THAT(named.out, Not(HasSubstr("both sides draw by gumbel")));
  EXPECT_EQ(shell(diff + "--swap draw=gumbel").exit, 1);
}

TEST_F(DiffVerb, BytesThatAreNoTextAreWritten) {
  // 0xff alone is no UTF-8; byte ids of its own stand for it.
  const Outcome ran = shell(
      "printf 'a \\377 b\\n' > prompts.txt; $PLUMB diff tiny-world --swap threads=1 --prompts "
      "prompts.txt --tokens 2 --json -o r.json");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(nlohmann::json::parse(ran.out)["verdict"], "MATCH");
  EXPECT_EQ(report()["verdict"], "MATCH");
}

}  // namespace
}  // namespace plumbline::test
