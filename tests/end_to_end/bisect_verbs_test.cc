// bisect, reduce, reproduce, perplexity and diff --impact, from outside, on the demo model. Oracle:
// the config that was changed on purpose.
#include <gmock/gmock.h>

#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Nine choices of B that change nothing that a diff of two picks sees.
constexpr const char* kHarmless =
    "kernels.threads=1 sampling.seed=5 context.reserve_output=10 context.prefill_chunk=3 "
    "context.policy=full generation.max_tokens=50 generation.stop=[xyz] template.thinking=on "
    "tokenizer.special=off";

class BisectVerbs : public PlumbCommand {
 protected:
  BisectVerbs() {
    write("good.yaml",
          "plumbline: 1\n"
          "extends: " PLUMB_SOURCE_DIR
          "/configs/pipelines/tiny-world.yaml\n"
          "kernels: {backend: plumb.cpu.scalar}\n");
  }

  /// Writes bad.yaml, good.yaml with changes, and answers bisect's JSON.
  json bisect(const std::string& bad, const std::string& prompt) {
    write("bad.yaml", "plumbline: 1\nextends: good.yaml\n" + bad);
    std::string swaps;
    std::istringstream harmless(kHarmless);
    for (std::string swap; harmless >> swap;) swaps += " --swap '" + swap + "'";
    const Outcome outcome =
        shell("$PLUMB bisect good.yaml bad.yaml" + swaps + " --tokens 2 --json " + prompt);
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    return outcome.exit == 0 ? json::parse(outcome.out) : json();
  }
};

std::vector<std::string> culprits_of(const json& report) {
  std::vector<std::string> names;
  for (const json& one : report.at("culprits")) names.push_back(one.at("choice"));
  return names;
}

TEST_F(BisectVerbs, FindABrokenOp) {
  const json report = bisect(
      "kernels: {overrides: [{op: ffn_act, layers: 1, backend: plumb.fault, options: "
      "{inner: plumb.cpu.scalar, fault: activation_wrong}}]}\n",
      "-p 'Mara the miller lives in the old mill.'");
  EXPECT_THAT(culprits_of(report), ElementsAre("kernels.overrides: ffn_act, layers 1"));
  EXPECT_EQ(report["symptom"]["door"], "20 ops");
  EXPECT_EQ(report["choices"].size(), 10u);
  EXPECT_LE(report["n_runs"].get<int>(), 11);
  EXPECT_EQ(report["is_minimal"], true);
  EXPECT_LT(report["prompt"]["text"].get<std::string>().size(), 4u);
}

TEST_F(BisectVerbs, FindATemplateFile) {
  write("other.jinja", "{% for message in messages %}[{{ message.content }}]{% endfor %}");
  write("chat.json", R"([{"role": "user", "content": "Who lives in the mill?"}])");
  const json report = bisect("template: {path: other.jinja}\n", "--messages chat.json");
  EXPECT_THAT(culprits_of(report), ElementsAre("template.path"));
  EXPECT_EQ(report["symptom"]["door"], "00 prompt");
}

// The verbs look at what diff looks at: without a prompt, at conversations too.
TEST_F(BisectVerbs, TemplatesThatDiffer) {
  write("other.jinja", "{% for message in messages %}[{{ message.content }}]{% endfor %}");
  const std::string swap = "good.yaml --swap template.path=other.jinja ";
  EXPECT_EQ(shell("$PLUMB diff " + swap + "--tokens 0").exit, 1);
  const Outcome found = shell("$PLUMB bisect " + swap + "--tokens 0 --prompt-runs 0 --json");
  ASSERT_EQ(found.exit, 0) << found.err;
  EXPECT_THAT(culprits_of(json::parse(found.out)), ElementsAre("template.path"));
  // No raw text shows it, which is no MATCH.
  for (const std::string verb : {"bisect ", "reduce -o case "}) {
    const Outcome raw = shell("$PLUMB " + verb + swap + "--tokens 0 -p Mara");
    EXPECT_EQ(raw.exit, 1) << verb;
    EXPECT_THAT(raw.out + raw.err, HasSubstr("no prompt has messages")) << verb;
    EXPECT_THAT(raw.out + raw.err, Not(HasSubstr("MATCH"))) << verb;
  }
}

TEST_F(BisectVerbs, FindAStageOfTheSampler) {
  const json report =
      bisect("sampling: {stages: [temperature: {t: 50}, gumbel]}\n", "-p 'Mara the miller'");
  EXPECT_THAT(culprits_of(report), Contains(HasSubstr("sampling.stages")));
  EXPECT_EQ(report["symptom"]["door"], "40 pick");
}

TEST_F(BisectVerbs, AnswerWithAnExitCode) {
  const Outcome same = shell("$PLUMB bisect good.yaml --swap sampling.seed=9 -p Mara");
  EXPECT_EQ(same.exit, 3) << same.err;
  EXPECT_THAT(same.out, HasSubstr("do not differ in outcome"));
  EXPECT_EQ(shell("$PLUMB bisect good.yaml missing.yaml -p Mara").exit, 2);
  EXPECT_EQ(shell("$PLUMB bisect good.yaml -p Mara").exit, 2);
}

TEST_F(BisectVerbs, ReduceWritesACaseThatReproduces) {
  write("other.jinja", "{% for message in messages %}[{{ message.content }}]{% endfor %}");
  write("chat.json", R"([{"role": "system", "content": "Be short."},
                         {"role": "user", "content": "Who lives in the mill?"}])");
  const std::string reduce =
      "$PLUMB reduce good.yaml --swap template.path=other.jinja --swap sampling.seed=3 "
      "--messages chat.json -o case";
  const Outcome made = shell(reduce);
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_THAT(files(), Contains("case"));
  // The template went along.
  const Outcome again = shell("rm other.jinja; PLUMB=$PLUMB case/reproduce --json");
  ASSERT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["reproduces"], true);
  EXPECT_EQ(json::parse(again.out)["same_values"], true);
  // No plumb in PATH: the program that wrote it.
  EXPECT_EQ(shell("unset PLUMB; PATH=/usr/bin:/bin case/reproduce").exit, 0);
  // A case may come from anywhere: what it says does not move the cursor.
  shell("cp -r case odd");
  write(
      "odd/expected.json",
      R"({"verdict": "WRONG", "door": "20 ops", "op": "x\u001b[2J\u009b", "tokens": 1, "seed": 1,)"
      R"("at": 0, "seen_a": "", "seen_b": "", "noise_sha256": null})");
  const Outcome odd = shell("$PLUMB reproduce odd");
  EXPECT_EQ(odd.exit, 1) << odd.err;
  EXPECT_THAT(odd.out, HasSubstr("x?[2J?"));
  // Nor is it waited for, or read without end.
  for (const char* bad : {"mkfifo", "ln -s /dev/zero"}) {
    const Outcome endless = shell(std::string("rm -f odd/expected.json; ") + bad +
                                  " odd/expected.json; $PLUMB reproduce odd");
    EXPECT_EQ(endless.exit, 4);
    EXPECT_THAT(endless.err, HasSubstr("expected a regular file"));
  }
  // B repaired: the difference is gone.
  EXPECT_EQ(shell("cp case/a.yaml case/b.yaml; $PLUMB reproduce case").exit, 1);
  EXPECT_EQ(shell(reduce).exit, 2);
  const Outcome two = shell(R"(echo '{"text": "x"}' >> case/prompt.jsonl; $PLUMB reproduce case)");
  EXPECT_EQ(two.exit, 4);
  EXPECT_THAT(two.err, HasSubstr("prompt.jsonl"));
  EXPECT_EQ(shell("rm case/expected.json; $PLUMB reproduce case").exit, 4);
}

TEST_F(BisectVerbs, NoiseOfNothingIsNoLevel) {
  write("empty.jsonl", "{\"text\": \"\"}\n");
  const Outcome nothing = shell(
      "$PLUMB noise good.yaml --swap activations=f32 --prompts empty.jsonl --into noise.json");
  EXPECT_EQ(nothing.exit, 3) << nothing.err;
  EXPECT_THAT(files(), Not(Contains("noise.json")));
}

TEST_F(BisectVerbs, PerplexityAndItsCost) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "Mara the miller lives in the old mill. ";
  write("text.txt", text);
  const Outcome one = shell("$PLUMB perplexity good.yaml --text text.txt --context 32 --json");
  ASSERT_EQ(one.exit, 0) << one.err;
  const json alone = json::parse(one.out);
  EXPECT_GT(alone["a"]["perplexity"]["value"].get<double>(), 1);
  EXPECT_FALSE(alone.contains("b"));
  const Outcome two = shell(
      "$PLUMB perplexity good.yaml --swap activations=f32 --text text.txt --context 32 --json");
  ASSERT_EQ(two.exit, 0) << two.err;
  const json cost = json::parse(two.out);
  EXPECT_EQ(cost["a"], alone["a"]);
  EXPECT_GT(cost["kl"]["value"].get<double>(), 0);
  EXPECT_GT(cost["kl"]["error"].get<double>(), 0);
  const Outcome itself =
      shell("$PLUMB perplexity good.yaml --swap threads=1 --text text.txt --context 32 --json");
  ASSERT_EQ(itself.exit, 0) << itself.err;
  EXPECT_EQ(json::parse(itself.out)["kl_percentiles"][0]["value"], 0);
  EXPECT_THAT(shell("$PLUMB perplexity good.yaml --text text.txt --context 32").out,
              HasSubstr("bits a byte"));
  EXPECT_EQ(shell("$PLUMB perplexity good.yaml --text text.txt --context 512").exit, 2);
  EXPECT_EQ(shell("$PLUMB perplexity good.yaml --text text.txt --context 100000").exit, 2);
}

// An old report is shown as it is: what would have to be compared is refused, not passed over.
TEST_F(BisectVerbs, AnOldReportAloneIsShown) {
  const Outcome made =
      shell("$PLUMB diff good.yaml --swap threads=1 -p Mara --tokens 0 -o old.json");
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(shell("$PLUMB diff --from old.json --strict --json").exit, 0);
  for (const char* other : {"good.yaml", "--swap threads=1", "--set seed=1", "-p Mara", "--ids 1",
                            "--messages m.json", "--prompts p.txt", "--mode chained", "--tokens 2",
                            "--seed 2", "--all-rows", "--noise n.json"}) {
    const Outcome refused = shell("$PLUMB diff --from old.json " + std::string(other));
    EXPECT_EQ(refused.exit, 2) << other;
    EXPECT_THAT(refused.err, HasSubstr("excludes")) << other;
  }
}

TEST_F(BisectVerbs, LinesEndBetweenCharacters) {
  write("other.jinja", "{% for message in messages %}[{{ message.content }}]{% endfor %}");
  write("chat.json", R"([{"role": "user", "content": "Who lives in the mill?"}])");
  shell("$PLUMB diff good.yaml --swap template.path=other.jinja --messages chat.json -o old.json");
  json report = json::parse(read_file(path("old.json")));
  for (const std::string start : {"", "a", "ab"}) {
    std::string text = start;
    for (int i = 0; i < 100; ++i) text += "漢";
    report["prompts"][0]["place"]["seen_a"] = text;
    write("old.json", report.dump());
    const Outcome shown =
        shell("$PLUMB diff --from old.json > out.txt; iconv -f UTF-8 -t UTF-8 out.txt");
    EXPECT_EQ(shown.exit, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr(start + "漢")) << start;
  }
}

TEST_F(BisectVerbs, ImpactRanksTensors) {
  const Outcome outcome = shell(
      "$PLUMB diff good.yaml --swap activations=f32 --impact -p 'Mara the miller' -p 'The river' "
      "--json");
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["n_prompts"], 2);
  EXPECT_THAT(report["impacts"][0]["name"].get<std::string>(), testing::EndsWith(".weight"));
  EXPECT_GT(report["impacts"][0]["kl"].get<double>(), 0);
  EXPECT_EQ(shell("$PLUMB diff good.yaml --swap activations=f32 --by-op").exit, 2);
  // What is of reports alone is refused, not passed over.
  for (const char* other : {"--mode chained", "--out r.json", "--from r.json", "--html r.html"}) {
    const Outcome refused =
        shell("$PLUMB diff good.yaml --swap activations=f32 --impact " + std::string(other));
    EXPECT_EQ(refused.exit, 2) << other;
    EXPECT_THAT(refused.err, HasSubstr("excludes")) << other;
  }
}

}  // namespace
}  // namespace plumbline::test
