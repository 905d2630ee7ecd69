// The doctor names what is wrong. Oracle: each test puts one fault into a healthy pipeline.
#include "core/pipeline/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"
#include "tests/unit/pipeline/tiny_world.h"

namespace plumbline::test {
namespace {

using pipeline::Examination;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The demo model's own template is like this one.
constexpr const char* kHealthy =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

class Doctor : public testing::Test {
 protected:
  Examination examine(const std::string& source, std::vector<std::string> overrides = {}) {
    folder_.write("t.jinja", source);
    overrides.push_back("template.path=" + folder_.path("t.jinja"));
    const auto made = tiny_world(std::move(overrides));
    return pipeline::examine(*made);
  }

  static std::vector<std::string> faults(const Examination& seen) {
    std::vector<std::string> names;
    for (const auto& finding : seen.findings) {
      if (finding.is_fault) names.push_back(finding.name);
    }
    EXPECT_EQ(names.empty(), seen.is_healthy());
    return names;
  }
  static std::string warnings(const Examination& seen) {
    std::string all;
    for (const auto& finding : seen.findings) {
      if (!finding.is_fault) all += finding.name + ": " + finding.message + "\n";
    }
    return all;
  }

  TemporaryFolder folder_;
};

TEST_F(Doctor, HealthyPipelineAnswers) {
  const Examination seen = examine(kHealthy);
  EXPECT_THAT(faults(seen), IsEmpty());
  EXPECT_THAT(seen.skipped, IsEmpty());
  EXPECT_FALSE(seen.answer.empty());
  EXPECT_EQ(seen.prompt.bytes, "<|im_start|>user\ntest<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_TRUE(seen.role_forgery && seen.role_forgery->is_protected);
  // The demo model pads with the end of a turn, as SmolLM2 does.
  EXPECT_THAT(warnings(seen), HasSubstr("pad_is_chat_token: token 2, \"<|im_end|>\""));
}

TEST_F(Doctor, BoundaryWhiteSpaceStripped) {
  const Examination seen = examine(replaced(kHealthy, "assistant\n{% endif", "assistant{% endif"));
  EXPECT_THAT(faults(seen), ElementsAre("boundary_whitespace_stripped"));
  EXPECT_THAT(seen.findings.front().message, HasSubstr("ends without \"\\n\""));
}

TEST_F(Doctor, SuffixMergedWithTheText) {
  folder_.write("tokenizer.json", R"({"pre_tokenizer": {"type": "WhitespaceSplit"},
      "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "testy": 1}, "unk_token": "[UNK]"}})");
  const Examination seen = examine("{% for m in messages %}{{ m.content }}y {% endfor %}",
                                   {"tokenizer.path=" + folder_.path("tokenizer.json")});
  EXPECT_THAT(faults(seen), testing::Contains("suffix_merged"));
  EXPECT_THAT(seen.findings.front().message, HasSubstr("token 1 is \"testy\""));
}

TEST_F(Doctor, InterpretedAsAnEmptyString) {
  EXPECT_THAT(faults(examine(replaced(kHealthy, "{{ m.content }}", ""))),
              testing::Contains("empty_string"));
}

TEST_F(Doctor, StopCollision) {
  EXPECT_THAT(faults(examine(kHealthy, {"generation.stop=[es]"})), ElementsAre("stop_collision"));
  const std::string answer = examine(kHealthy).answer;
  const Examination stopped =
      examine(kHealthy, {"generation.stop=['" + answer.substr(0, 2) + "']"});
  EXPECT_THAT(faults(stopped), ElementsAre("stop_collision"));
}

TEST_F(Doctor, MissingAndDoubledBeginning) {
  EXPECT_THAT(faults(examine("{% set unused = bos_token %}Talk:\n" + std::string(kHealthy))),
              testing::Contains("missing_bos"));
  EXPECT_THAT(faults(examine("{{ bos_token }}" + std::string(kHealthy))),
              testing::Contains("doubled_bos"));
}

TEST_F(Doctor, WrongEndToken) {
  const Examination seen = examine(replaced(kHealthy, "<|im_end|>",
                                            "{{ '<|im_start|>' if m.role == 'assistant' else "
                                            "'<|im_end|>' }}"));
  EXPECT_THAT(faults(seen), ElementsAre("wrong_end_token"));
  EXPECT_THAT(seen.findings.back().message + seen.findings.front().message,
              HasSubstr("\"<|im_start|>\", which ends no generation"));
}

TEST_F(Doctor, RolesThatAnyoneCanWriteAreAWarning) {
  const Examination seen = examine(
      "{% for m in messages %}### {{ m.role }}:\n{{ m.content }}\n{% endfor %}### assistant:\n");
  EXPECT_THAT(warnings(seen), HasSubstr("role_forgery: unprotected"));
}

TEST_F(Doctor, NoCoherentToken) {
  // The end of the turn at once, and bytes that are no characters.
  EXPECT_THAT(faults(examine(kHealthy, {"sampling.stages=[scripted: {ids: [2]}]"})),
              ElementsAre("no_coherent_token"));
}

TEST_F(Doctor, StagesThatFailAreNamed) {
  EXPECT_THAT(faults(examine("{{ raise_exception('not today') }}")), ElementsAre("template"));
  EXPECT_THAT(faults(examine(kHealthy, {"tokenizer.control_literals=[nothing]"})),
              ElementsAre("tokenizer"));
  EXPECT_THAT(faults(examine(kHealthy, {"kernels.backend=plumb.nowhere"})), ElementsAre("model"));
}

TEST_F(Doctor, TokenizerOfAnotherModel) {
  const Examination seen =
      examine(kHealthy, {"tokenizer.path=" + golden_path("models/tiny-gemma3/model.gguf")});
  EXPECT_FALSE(seen.is_healthy());
}

}  // namespace
}  // namespace plumbline::test
