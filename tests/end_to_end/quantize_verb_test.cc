// model quantize, from outside, on the tiny models of the repository.
// Oracle: the source's own logits where the new format holds every value of the old one, the
// source's bytes where nothing changes, and what a user must never lose.
#include <gmock/gmock.h>

#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class QuantizeVerb : public PlumbCommand {
 protected:
  /// cp of tiny-world, so that a test may harm it.
  QuantizeVerb() { write("in.gguf", tiny_world()); }

  json quantize(const std::string& arguments) const {
    const Outcome ran = shell("$PLUMB model quantize " + arguments + " --json");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return json::parse(ran.out, nullptr, false);
  }
  void expect_refused(const std::string& arguments, int exit, const std::string& message) const {
    const std::vector<std::string> before = files();
    const Outcome ran = shell("$PLUMB model quantize " + arguments);
    EXPECT_EQ(ran.exit, exit) << arguments;
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, HasSubstr(message)) << arguments;
    EXPECT_EQ(files(), before);
    EXPECT_EQ(read_file(path("in.gguf")), tiny_world());
  }
};

TEST_F(QuantizeVerb, AFormatThatHoldsEveryValueGivesTheSameLogits) {
  quantize("in.gguf -o out.gguf --to f32");
  const Outcome made = shell(
      "for m in in out; do $PLUMB logits tiny-world -p 'Mara lives in' -o $m.npy "
      "--set model.source.path=$PWD/$m.gguf --set kernels.activations=f32 || exit; done");
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(read_file(path("in.npy")), read_file(path("out.npy")));
}

TEST_F(QuantizeVerb, TheFormatThatItHasGivesTheSameFile) {
  const json said = quantize("in.gguf -o out.gguf --to Q8_0");
  EXPECT_EQ(said["bytes"], tiny_world().size());
  EXPECT_EQ(read_file(path("out.gguf")), tiny_world());
  EXPECT_THAT(files(), ElementsAre("in.gguf", "out.gguf"));
}

TEST_F(QuantizeVerb, EveryFormatIsInspectedAsItIsAndRuns) {
  for (const std::string format : {"f16", "q4_0", "q4_1", "q5_0", "q6_k"}) {
    SCOPED_TRACE(format);
    const json said = quantize("in.gguf -o out.gguf --force --to " + format);
    std::map<std::string, std::string> expected;
    for (const json& kind : said["tensors"]) expected[kind["name"]] = kind["to"];
    const Outcome inspected = shell("$PLUMB model inspect out.gguf --json");
    ASSERT_EQ(inspected.exit, 0) << inspected.err;
    const json inside = json::parse(inspected.out);
    const json before = json::parse(shell("$PLUMB model inspect in.gguf --json").out);
    EXPECT_EQ(inside["hyper_parameters"], before["hyper_parameters"]);
    ASSERT_EQ(inside["tensors"].size(), before["tensors"].size());
    for (size_t i = 0; i < inside["tensors"].size(); ++i) {
      const json& tensor = inside["tensors"][i];
      std::string kind = tensor["name"];
      if (kind.starts_with("blk.")) kind = kind.substr(kind.find('.', 4) + 1);
      EXPECT_EQ(tensor["format"], expected[kind]);
      EXPECT_EQ(tensor["name"], before["tensors"][i]["name"]);
      EXPECT_EQ(tensor["dims"], before["tensors"][i]["dims"]);
      EXPECT_EQ(tensor["dims"].size() == 1, tensor["format"] == "F32");
    }
    const Outcome ran = shell(
        "$PLUMB run tiny-world --raw -q -p 'Once upon a time' --set model.source.path=$PWD/out.gguf"
        " --set generation.max_tokens=8");
    EXPECT_EQ(ran.exit, 0) << ran.err;
  }
}

TEST_F(QuantizeVerb, TheTableTellsOfEachKindOfTensor) {
  const Outcome ran = shell("$PLUMB model quantize in.gguf -o out.gguf --to q6_k");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("attn_q.weight"));
  EXPECT_THAT(ran.out, HasSubstr("out.gguf: "));
  EXPECT_THAT(ran.err, HasSubstr("since rows are no whole number of Q6_K's blocks: attn_"));
  EXPECT_THAT(ran.err, HasSubstr("weights were quantized before"));
}

TEST_F(QuantizeVerb, NothingIsReplacedUnasked) {
  write("out.gguf", "precious");
  expect_refused("in.gguf -o out.gguf --to q4_0", 2, "out.gguf: is there already; --force");
  shell("ln -s in.gguf link.gguf; ln in.gguf twin.gguf; ln -s nowhere dangling.gguf; mkdir folder");
  for (const std::string same : {"in.gguf", "./in.gguf", "link.gguf", "twin.gguf"})
    expect_refused("in.gguf -o " + same + " --force --to q4_0", 2, same + ": is the model itself");
  expect_refused("link.gguf -o in.gguf --force --to q4_0", 2, "in.gguf: is the model itself");
  expect_refused("in.gguf -o dangling.gguf --force --to q4_0", 2, "no regular file");
  expect_refused("in.gguf -o folder --force --to q4_0", 2, "no regular file");
  expect_refused("in.gguf -o /dev/full --force --to q4_0", 2, "no regular file");
  EXPECT_EQ(read_file(path("out.gguf")), "precious");
  quantize("in.gguf -o out.gguf --force --to q4_0");
  EXPECT_EQ(read_file(path("out.gguf")).substr(0, 4), "GGUF");
}

TEST_F(QuantizeVerb, MistakesAreNamed) {
  expect_refused("in.gguf -o out.gguf --to q5_1", 2,
                 "--to: found \"q5_1\", expected one of f32, f16, q4_0, q4_1, q5_0, q8_0, q6_k");
  expect_refused("in.gguf -o none/out.gguf --to q4_0", 4, "none/out.gguf: cannot be");
  expect_refused("nobody -o out.gguf --to q4_0", 2, "nobody");
  expect_refused("smollm2-135m -o out.gguf --to q4_0", 4, "plumb model pull smollm2-135m");
  write("cut.gguf", tiny_world().substr(0, tiny_world().size() - 100));
  expect_refused("cut.gguf -o out.gguf --to q4_0", 4, "cut.gguf: byte ");
}

TEST_F(QuantizeVerb, AFileThatMayNotGrowLeavesNothing) {
  const Outcome ran = shell("ulimit -f 8; $PLUMB model quantize in.gguf -o out.gguf --to q4_0");
  EXPECT_EQ(ran.exit, 4);
  EXPECT_THAT(ran.err, HasSubstr("out.gguf: no room: "));
  EXPECT_THAT(files(), ElementsAre("in.gguf"));
}

}  // namespace
}  // namespace plumbline::test
