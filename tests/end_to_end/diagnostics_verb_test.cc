// The payload of `plumb run --json`, done or failed. Oracle: the published schema, the numbers of
// core/doc/diagnostics.md, and a second run.
#include <gmock/gmock.h>

#include "tests/end_to_end/plumb_command.h"
#include "tests/support/json_schema.h"

namespace plumbline::test {
namespace {

using json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kRun = "$PLUMB run tiny-world --json ";

class Diagnostics : public PlumbCommand {
 protected:
  // The payload of a run, which is as the schema says, whatever its exit.
  json payload(const std::string& arguments, int exit = 0) {
    const Outcome ran = shell(kRun + arguments);
    EXPECT_EQ(ran.exit, exit) << ran.err;
    const json said = json::parse(ran.out, nullptr, false);
    EXPECT_TRUE(said.is_object()) << ran.out << ran.err;
    if (!said.is_object()) return {};
    static const JsonSchema schema(nlohmann::json::parse(
        read_file(PLUMB_SOURCE_DIR "/configs/schema/diagnostics.schema.json")));
    EXPECT_THAT(schema.violations(said["diagnostics"]), IsEmpty());
    return said["diagnostics"];
  }
  // Its number, load status and sentence.
  void expect_failure(const std::string& arguments, int exit, int code, const char* status) {
    SCOPED_TRACE(arguments);
    const json seen = payload(arguments, exit);
    const json& stable = seen["stable"];
    EXPECT_EQ(stable["error_recovery"]["numeric_code"], code);
    EXPECT_EQ(stable["load_stage_status"], status);
    EXPECT_TRUE(stable["error_recovery"]["stable_message"].is_string());
    EXPECT_TRUE(seen["volatile"]["error_detail"].is_string());
  }
};

TEST_F(Diagnostics, StableBytesAreTheSameAgainAndWithOtherThreads) {
  const std::string sampled = "-p 'Who is Captain?' --set sampling.profile=balanced ";
  const json first = payload(sampled + "--set kernels.threads=1");
  const json again = payload(sampled + "--set kernels.threads=1");
  const json two = payload(sampled + "--set kernels.threads=2");
  EXPECT_EQ(first["stable"].dump(), again["stable"].dump());
  EXPECT_EQ(first["stable"].dump(), two["stable"].dump());
  EXPECT_NE(first["volatile"]["transaction_id"], again["volatile"]["transaction_id"]);
  const json other = payload(sampled + "--set sampling.seed=2");
  EXPECT_NE(first["stable"].dump(), other["stable"].dump());
}

TEST_F(Diagnostics, StableBytesAreTheSameOnOtherKernelsOfTheClass) {
  const std::string sampled =
      "-p 'Who is Captain?' --set sampling.profile=balanced --set kernels.backend=plumb.cpu.";
  const json scalar = payload(sampled + "scalar");
  EXPECT_EQ(scalar["stable"]["numerics"], json::array({"canonical-1"}));
  EXPECT_EQ(scalar["volatile"]["kernels"], json::array({"plumb.cpu.scalar"}));
  size_t n_others = 0;
  for (const std::string isa : {"avx2", "avx512", "neon"}) {
    if (shell("$PLUMB logits tiny-world --ids 1 --json --set kernels.backend=plumb.cpu." + isa)
            .exit != 0)
      continue;
    ++n_others;
    const json other = payload(sampled + isa);
    EXPECT_EQ(other["stable"].dump(), scalar["stable"].dump()) << isa;
    EXPECT_EQ(other["volatile"]["kernels"], json::array({"plumb.cpu." + isa}));
  }
  if (n_others == 0) GTEST_SKIP() << "no other kernels run on this machine";
}

TEST_F(Diagnostics, TellsWhatAnAnswerWas) {
  const json seen = payload("-p 'Who is Captain?' --set generation.max_tokens=64");
  const json& stable = seen["stable"];
  EXPECT_EQ(stable["model_identity"]["architecture"], "llama");
  EXPECT_EQ(stable["model_identity"]["precision"], "q8_0");
  EXPECT_EQ(stable["pipeline_profile"], "diff-greedy");
  EXPECT_EQ(stable["load_stage_status"], "KV_ALLOCATION_SUCCESS");
  EXPECT_EQ(stable["generation_stage"]["stop_reason"], "EOS_TOKEN");
  EXPECT_EQ(stable["generation_stage"]["end_tokens_passed_over"], 0);
  EXPECT_EQ(stable["kv"]["policy"], "turn_aware");
  EXPECT_EQ(stable["error_recovery"]["numeric_code"], 0);
  EXPECT_TRUE(stable["error_recovery"]["stable_message"].is_null());
  const json stopped =
      payload("--raw -p 'Mara lives in' --set 'generation.stop=[\"zz\",\" the\"]'");
  const json& stop = stopped["stable"]["generation_stage"]["stop"];
  EXPECT_EQ(stopped["stable"]["generation_stage"]["stop_reason"], "STOP_SEQUENCE");
  EXPECT_EQ(stop["kind"], "text");
  EXPECT_EQ(stop["index"], 1);
}

TEST_F(Diagnostics, AnEndTokenThatIsPenalisedGivesItselfAway) {
  // An answer that would end: now a bias keeps the end tokens from winning.
  const json plain = payload("-p 'Who is Captain?' --set generation.max_tokens=64");
  const json ends =
      json::parse(shell("$PLUMB tokenize tiny-world -p '<|im_end|><|endoftext|>'").out)["ids"];
  ASSERT_EQ(ends.size(), 2u);
  const json penalised = payload(
      "-p 'Who is Captain?' --set generation.max_tokens=64 --set "
      "'sampling.stages=[logit_bias: {biases: {\"" +
      ends[0].dump() + "\": -100, \"" + ends[1].dump() + "\": -100}}, greedy]'");
  const json& before = plain["stable"]["generation_stage"];
  const json& after = penalised["stable"]["generation_stage"];
  EXPECT_EQ(before["stop_reason"], "EOS_TOKEN");
  EXPECT_EQ(after["stop_reason"], "MAX_OUTPUT");
  EXPECT_EQ(after["generated_tokens"], 64);
  EXPECT_GT(after["end_tokens_passed_over"], 0);
}

TEST_F(Diagnostics, EveryFailureHasItsNumber) {
  const std::string prompt = "-p hello ";
  expect_failure(prompt + "--set kernels.threads=none", 2, 20, "IDLE");
  expect_failure(prompt + "--set kernels.backend=none.such", 5, 20, "IDLE");
  expect_failure(prompt + "--set model.source.path=absent.gguf", 4, 12, "IDLE");
  const std::string& bytes = tiny_world();
  write("magic.gguf", "GGML" + bytes.substr(4));
  expect_failure(prompt + "--set model.source.path=magic.gguf", 4, 4, "HEADER_REJECTED");
  write("cut.gguf", bytes.substr(0, bytes.size() / 2));
  expect_failure(prompt + "--set model.source.path=cut.gguf", 4, 6, "HEADER_REJECTED");
  write("pinned.gguf", bytes);
  expect_failure(prompt + "--set model.source.path=pinned.gguf --set model.source.sha256=" +
                     std::string(64, 'a'),
                 4, 19, "CHECKSUM_MISMATCH");
  expect_failure(prompt + "--set tokenizer.plugin=none.such", 5, 20, "TOKENIZER_REJECTED");
  write("odd.json", R"([{"role": "nobody"}])");
  expect_failure("--messages odd.json", 2, 17, "IDLE");
  expect_failure(prompt + "--set context.length=1000000 --set context.kv_budget_mib=1", 2, 11,
                 "KV_ALLOCATION_FAILED");
  expect_failure(prompt + "--set context.length=36", 2, 11, "KV_ALLOCATION_SUCCESS");
  expect_failure("--raw -p ''", 2, 2, "KV_ALLOCATION_SUCCESS");
  expect_failure(prompt + "--set 'sampling.stages=[temperature: {t: 0.5}]'", 2, 20,
                 "KV_ALLOCATION_SUCCESS");
  // Before anything is loaded that takes long.
  expect_failure(prompt + "--set 'sampling.stages=[top_k: {k: -1}, cdf]'", 2, 20, "IDLE");
}

TEST_F(Diagnostics, CallsAndReasoningAreApart) {
  const std::string text =
      "<think>sea</think>It is.<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>";
  write("ids.txt", text);
  const json ids =
      json::parse(shell("$PLUMB tokenize tiny-world -p \"$(cat ids.txt)\"").out)["ids"];
  const std::string script =
      " --set parser.plugin=plumb.parsers.tags --set generation.max_tokens=200 --set "
      "'sampling.stages=[scripted: {ids: " +
      ids.dump() + "}, greedy]' -p hello";
  const Outcome ran = shell(kRun + script);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const json said = json::parse(ran.out);
  EXPECT_EQ(said["text"], text);
  EXPECT_EQ(said["content"], "It is.");
  EXPECT_EQ(said["reasoning"], "sea");
  EXPECT_EQ(said["tool_calls"], json::parse(R"([{"name":"f","arguments":{}}])"));
  const Outcome shown = shell("$PLUMB run tiny-world" + script);
  EXPECT_EQ(shown.out, "It is.\n");
  EXPECT_THAT(shown.err, HasSubstr("sea"));
  EXPECT_THAT(shown.err, HasSubstr("[calls {\"name\":\"f\",\"arguments\":{}}]"));
}

TEST_F(Diagnostics, TheSchemaIsPublished) {
  EXPECT_EQ(shell("$PLUMB config schema --diagnostics").out,
            read_file(PLUMB_SOURCE_DIR "/configs/schema/diagnostics.schema.json"));
}

}  // namespace
}  // namespace plumbline::test
