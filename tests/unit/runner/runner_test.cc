// Runners that behave and runners that do not. Oracles: the formulas of fake_runner.py; the limits
// of core/doc/runner.md.
#include "core/runner/runner.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>

#include "core/hash/sha256.h"
#include "tests/unit/runner/fake_model.h"

namespace plumbline::runner {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<int32_t> kIds = {1, 2, 3};

std::unique_ptr<Runner> started(const FakeModel& model) {
  auto runner = model.start();
  EXPECT_TRUE(runner) << (runner ? "" : runner.error().message);
  return runner ? *std::move(runner) : nullptr;
}

float logit(int sum, int id) {
  return static_cast<float>((7 * sum + 3 * id) % 13);
}

TEST(Runner, TellsWhatItIs) {
  const auto runner = started(FakeModel("good"));
  ASSERT_NE(runner, nullptr);
  const RunnerInfo& info = runner->info();
  EXPECT_EQ(info.engine, "fake");
  EXPECT_EQ(info.engine_version, "1.2.3");
  EXPECT_EQ(info.numerics, "f32");
  EXPECT_EQ(info.architecture, "fake");
  EXPECT_EQ(info.n_vocab, 11u);
  EXPECT_EQ(info.n_context, 16u);
  EXPECT_EQ(info.sizes.at("n_heads"), 2u);
  EXPECT_EQ(info.taps.size(), 11u);
  EXPECT_THAT(
      runner->mapped_ops(),
      ElementsAre("embed", "0.attn_q", "1.attn_q", "0.attn_v", "1.attn_v", "0.attend", "1.attend",
                  "0.ffn_norm", "1.ffn_norm", "0.kv_append", "1.kv_append", "output"));
}

TEST(Runner, OptionsReachTheEngine) {
  FakeModel model("good");
  model.options.runner.options_json = R"({"echo": "bf16"})";
  EXPECT_EQ(started(model)->info().numerics, "bf16");
  model.options.runner.options_json = R"({"echoo": 1})";
  const auto refused = model.start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PLUMB_INVALID_CONFIG);
  EXPECT_EQ(refused.error().message,
            "runner good.py: load: runner.options.echoo: unknown, expected one of echo");
}

TEST(Runner, GivesLogitsOfTheLastRowOrOfAll) {
  const auto runner = started(FakeModel("good"));
  const auto last = runner->forward(kIds);
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_EQ(last->n_rows, 1u);
  EXPECT_EQ(last->first_position, 2u);
  ASSERT_EQ(last->logits.size(), 11u);
  for (int id = 0; id < 11; ++id) EXPECT_EQ(last->logits[static_cast<size_t>(id)], logit(6, id));
  EXPECT_EQ(last->untapped_sha256, "") << "nothing was tapped";
  const auto all = runner->forward(kIds, {.all_rows = true});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->first_position, 0u);
  ASSERT_EQ(all->logits.size(), 33u);
  EXPECT_EQ(all->logits[11 + 4], logit(3, 4));
}

TEST(Runner, ASessionIsContinuedAndTakenBack) {
  const auto runner = started(FakeModel("good"));
  ASSERT_TRUE(runner->forward(kIds));
  const std::vector<int32_t> more = {4, 5};
  const auto continued = runner->forward(more, {.ops = {"0.attend"}, .keep = 3});
  ASSERT_TRUE(continued) << continued.error().message;
  EXPECT_EQ(continued->first_position, 4u);
  EXPECT_EQ(continued->logits[2], logit(15, 2));
  EXPECT_EQ(continued->recording.find("0.attend")->first_position, 3u);
  EXPECT_EQ(runner->n_past(), 5u);
  const auto shorter = runner->forward(more, {.keep = 1});
  ASSERT_TRUE(shorter) << shorter.error().message;
  EXPECT_EQ(shorter->logits[0], logit(10, 0));
  EXPECT_EQ(runner->n_past(), 3u);
}

TEST(Runner, RecordsOurOpsOutOfTheirTensors) {
  const auto runner = started(FakeModel("good"));
  const auto output = runner->forward(kIds, {.ops = runner->mapped_ops()});
  ASSERT_TRUE(output) << output.error().message;
  const trace::Recording& recording = output->recording;
  EXPECT_EQ(recording.ops(), runner->mapped_ops());
  const auto row = [&](const char* op, uint32_t position) {
    const auto values = recording.rows(op, position, 1);
    return std::vector<float>(values.begin(), values.end());
  };
  EXPECT_THAT(row("embed", 2), ElementsAre(200, 201, 202, 203, 204, 205, 206, 207));
  EXPECT_THAT(row("1.attn_q", 1), ElementsAre(1100, 1102, 1101, 1103, 1104, 1106, 1105, 1107));
  EXPECT_THAT(row("0.attn_v", 0), ElementsAre(12, 13, 14, 15));
  EXPECT_THAT(row("1.attend", 2), ElementsAre(1200, 1201, 1202, 1203, 1204, 1205, 1206, 1207))
      << "[H,T,C] becomes [T,H*C]";
  EXPECT_THAT(row("0.kv_append", 1), ElementsAre(100, 102, 101, 103, 112, 113, 114, 115));
  EXPECT_EQ(recording.find("0.ffn_norm")->first_position, 2u) << "only the last row was given";
  EXPECT_EQ(recording.find("output")->first_position, 2u);
  EXPECT_EQ(row("output", 2), output->logits);
  EXPECT_EQ(output->untapped_sha256, output->logits_sha256);
  EXPECT_EQ(output->logits_sha256,
            sha256_of({reinterpret_cast<const char*>(output->logits.data()), 44}));
  EXPECT_FALSE(output->has_observer_effect());
}

TEST(Runner, AnObserverEffectShows) {
  const auto runner = started(FakeModel("observed"));
  const auto output = runner->forward(kIds, {.ops = {"embed"}});
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_TRUE(output->has_observer_effect());
}

TEST(Runner, QuestionsThatMakeNoSenseAreNotAsked) {
  const auto runner = started(FakeModel("good"));
  const auto refused = [&](const std::vector<int32_t>& ids, const ForwardOptions& options) {
    const auto output = runner->forward(ids, options);
    EXPECT_FALSE(output);
    if (output) return std::string();
    EXPECT_EQ(output.error().code, PLUMB_INVALID_ARGUMENT);
    return output.error().message;
  };
  EXPECT_THAT(refused({}, {}), HasSubstr("no ids"));
  EXPECT_THAT(refused({11}, {}), HasSubstr("id 11, expected 0 to 10"));
  EXPECT_THAT(refused({-1}, {}), HasSubstr("id -1"));
  EXPECT_THAT(refused(std::vector<int32_t>(17), {}), HasSubstr("room for 16"));
  EXPECT_THAT(refused({1}, {.keep = 1}), HasSubstr("keep 1 of 0"));
  EXPECT_THAT(refused({1}, {.ops = {"0.attn_k"}}),
              HasSubstr("op 0.attn_k is not mapped; did you mean \"0.attn_q\"?"));
  EXPECT_TRUE(runner->forward(kIds)) << "the session goes on";
}

TEST(Runner, ARefusalIsNoEnd) {
  const auto runner = started(FakeModel("refuses_to_run"));
  const auto refused = runner->forward(std::vector<int32_t>{1, 2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PLUMB_UNSUPPORTED);
  EXPECT_EQ(refused.error().message, "runner refuses_to_run.py: forward: not two ids");
  EXPECT_TRUE(runner->forward(kIds));
}

TEST(Runner, LogitsThatAreNoNumbersAreCounted) {
  const auto output = started(FakeModel("nan_logits"))->forward(kIds);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, PLUMB_NUMERIC);
  EXPECT_THAT(output.error().message,
              HasSubstr("logits of position 2: 1 of 11 are NaN, the first of id 9"));
}

TEST(Runner, AnotherVocabularyIsRefused) {
  FakeModel model("good");
  model.options.n_vocab = 12;
  auto refused = model.start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PLUMB_INCOMPATIBLE);
  EXPECT_THAT(refused.error().message, HasSubstr("11 token ids, expected 12"));
  model.options.n_vocab = 11;
  model.options.vocabulary_sha256 = std::string(64, 'a');
  EXPECT_TRUE(model.start());
  model.options.vocabulary_sha256 = std::string(64, 'b');
  refused = model.start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PLUMB_INCOMPATIBLE);
}

TEST(Runner, MissingProgramsAreNamed) {
  FakeModel model("good");
  test::TemporaryFolder installed;
  std::filesystem::create_directory(installed.path("transformers"));
  installed.write("transformers/runner.py", "");
  model.options.folder = installed.path("");
  model.options.runner.name = "transformer";
  EXPECT_THAT(model.start().error().message,
              AllOf(HasSubstr("are transformers;"), HasSubstr("did you mean \"transformers\"?")));
  model.options.runner.name = "/no/such/runner.py";
  EXPECT_EQ(model.start().error().code, PLUMB_NOT_FOUND);
  model.options.runner.name = "transformers";
  model.options.runner.python = "/no/such/python";
  EXPECT_THAT(model.start().error().message,
              AllOf(HasSubstr("cannot run /no/such/python"), HasSubstr("runner.python")));
  // A Python that runs an empty script ends at once.
  model.options.runner.python = "python3";
  EXPECT_THAT(model.start().error().message, HasSubstr("exit status 0"));
}

TEST(Runner, WaitingCanBeCancelled) {
  FakeModel model("hangs_at_load");
  int asked = 0;
  model.options.cancelled = [&] { return ++asked > 3; };
  const auto cancelled = model.start();
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, PLUMB_CANCELLED);
}

TEST(Runner, ALongStepIsTold) {
  FakeModel model("hangs_at_forward");
  std::vector<std::string> lines;
  model.options.on_progress = [&](const std::string& line) { lines.push_back(line); };
  model.options.cancelled = [&] { return !lines.empty(); };
  ASSERT_FALSE(started(model)->forward(kIds));
  EXPECT_THAT(lines, ElementsAre(testing::MatchesRegex(
                         "runner hangs_at_forward.py: forward: [0-9]+ s so far, at most 60")));
}

TEST(Runner, OneThatIgnoresTheEndIsEnded) {
  const auto runner = started(FakeModel("ignores_the_end"));
  EXPECT_TRUE(runner->forward(kIds));
}

/// Hostile answers: what is called how, when it shows, and what must be said of it.
struct Hostile {
  const char* fault;
  const char* step;  // "hello", "load" or "forward"
  const char* says;
  plumb_status code = PLUMB_CORRUPT;
  uint32_t timeout_s = 60;
};

void PrintTo(const Hostile& hostile, std::ostream* out) {
  *out << hostile.fault;
}

/// What such a runner leads to.
Error provoked(const Hostile& hostile, uint32_t timeout_s) {
  FakeModel model(hostile.fault);
  model.options.runner.timeout_s = timeout_s;
  auto runner = model.start();
  if (!runner) return runner.error();
  const ForwardOptions options{.ops = {"embed"}, .checks_observer = false};
  auto output = (*runner)->forward(kIds, options);
  // Bytes behind an answer are the next one's trouble.
  if (output) output = (*runner)->forward(kIds, options);
  if (output) return {PLUMB_OK, "no error"};
  const auto again = (*runner)->forward(kIds);
  EXPECT_FALSE(again) << "a conversation that broke goes on";
  if (!again) {
    EXPECT_EQ(again.error().message, output.error().message);
  }
  return output.error();
}

class HostileRunner : public testing::TestWithParam<Hostile> {};

TEST_P(HostileRunner, IsAnErrorThatSaysWhy) {
  const Hostile& hostile = GetParam();
  const auto expected =
      AllOf(HasSubstr(hostile.says),
            HasSubstr("runner " + std::string(hostile.fault) + ".py: " + hostile.step + ": "));
  Error error = provoked(hostile, hostile.timeout_s);
  // On a machine with much else to do, a short time limit can end an earlier step.
  for (uint32_t timeout_s = hostile.timeout_s;
       timeout_s < 60 && !testing::Value(error.message, expected);) {
    timeout_s *= 4;
    error = provoked(hostile, timeout_s);
  }
  EXPECT_THAT(error.message, expected);
  EXPECT_EQ(error.code, hostile.code) << error.message;
}

INSTANTIATE_TEST_SUITE_P(
    Answers, HostileRunner,
    testing::Values(
        Hostile{"dies_at_hello", "hello", "exit status 9; its standard error ends:\nlast words",
                PLUMB_INTERNAL},
        Hostile{"hangs_at_hello", "hello", "time limit; runner.timeout_s", PLUMB_INTERNAL, 1},
        Hostile{"does_not_read", "hello", "time limit", PLUMB_INTERNAL, 1},
        Hostile{"another_protocol", "hello", "it speaks plumb.runner/9, expected plumb.runner/1",
                PLUMB_INCOMPATIBLE},
        Hostile{"rubbish_at_hello", "hello", "\"hello, world\", expected an answer"},
        Hostile{"empty_line_at_hello", "hello", "\"\", expected an answer"},
        Hostile{"not_utf8_at_hello", "hello", "no UTF-8"},
        Hostile{"list_at_hello", "hello", "expected an answer: one JSON object"},
        Hostile{"nan_at_load", "load", "NaN}\", expected an answer"},
        Hostile{"deep_at_load", "load", "nested deeper than 16"},
        Hostile{"long_line_at_load", "load", "a line longer than 1048576 bytes"},
        Hostile{"error_that_is_text_at_load", "load", "error: expected an object"},
        Hostile{"unknown_code_at_load", "load", "error.code: \"meltdown\""},
        Hostile{"refuses_to_load", "load", "no model of this kind: /models/fake.gguf",
                PLUMB_UNSUPPORTED},
        Hostile{"defect", "load", "ValueError: an exception of its own", PLUMB_INTERNAL},
        Hostile{"dies_at_load", "load", "exit status 9", PLUMB_INTERNAL},
        Hostile{"hangs_at_load", "load", "thinking", PLUMB_INTERNAL, 1},
        Hostile{"negative_count", "load", "n_vocab: -1, expected an integer from 1 to"},
        Hostile{"fractional_count", "load", "n_vocab: 11.5, expected an integer"},
        Hostile{"zero_count", "load", "n_layers: 0, expected an integer from 1 to 4096"},
        Hostile{"huge_count", "load", "n_vocab: 4611686018427387904, expected"},
        Hostile{"text_count", "load", "n_vocab: \"11\", expected"},
        Hostile{"no_architecture", "load", "architecture: \"\", expected a text"},
        Hostile{"taps_no_list", "load", "taps: expected a list"},
        Hostile{"taps_no_objects", "load", "taps: expected objects"},
        Hostile{"tap_without_width", "load", "width: missing, expected"},
        Hostile{"tap_named_logits", "load", "logits is the answer itself"},
        Hostile{"sizes_no_object", "load", "sizes: expected an object"},
        Hostile{"dies_at_forward", "forward", "last words", PLUMB_INTERNAL},
        Hostile{"hangs_at_forward", "forward", "time limit", PLUMB_INTERNAL, 1},
        Hostile{"leaves_a_child", "forward", "exit status 3", PLUMB_INTERNAL},
        Hostile{"rubbish_at_forward", "forward", "\"hello, world\", expected an answer"},
        Hostile{"half_a_tensor", "forward", "embed f32[3,8]: no answer within", PLUMB_INTERNAL, 1},
        Hostile{"half_a_tensor_then_dies", "forward", "exit status 4", PLUMB_INTERNAL},
        Hostile{"wrong_shape", "forward", "logits f32[1,12], expected logits f32[1,11]"},
        Hostile{"overflowing_shape", "forward",
                "embed f32[16777216,16777216,16777216], expected 1 to 3 rows of 8 values"},
        Hostile{"shape_of_rank_4", "forward", "expected a list of 1 to 3 counts"},
        Hostile{"negative_shape", "forward", "tensors.1: shape: -1, expected an integer"},
        Hostile{"too_many_rows", "forward", "embed f32[4,8], expected 1 to 3 rows of 8"},
        Hostile{"another_width", "forward", "embed f32[3,16], expected 1 to 3 rows of 8"},
        Hostile{"another_name", "forward", "tensor layers.0.o, expected embed"},
        Hostile{"one_tensor_less", "forward", "1 tensors, expected the logits and 1 taps"},
        Hostile{"one_tensor_more", "forward", "expected the logits and"},
        Hostile{"another_dtype", "forward", "logits: dtype f64, expected f32"},
        Hostile{"no_shape", "forward", "logits: shape: expected a list"},
        Hostile{"too_many_bytes", "forward", "\"more{"}),
    [](const auto& one) { return one.param.fault; });

TEST(Runner, AFloodOfErrorsDoesNoHarm) {
  EXPECT_TRUE(started(FakeModel("floods_its_errors"))->forward(kIds));
}

TEST(Runner, AnArchitectureIsNoPath) {
  FakeModel model("strange_architecture");
  model.options.runner.map = "auto";
  EXPECT_TRUE(started(model)->mapped_ops().empty());
}

}  // namespace
}  // namespace plumbline::runner
