// What is told of a transaction. Oracle: the numbers of requirements, by their names; the schema.
#include "core/pipeline/diagnostics.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/support/json_schema.h"

namespace plumbline::test {
namespace {

using pipeline::Diagnostics;
using pipeline::ErrorCode;
using pipeline::LoadStatus;
using pipeline::Stage;
using pipeline::StopReason;
using testing::IsEmpty;

std::vector<std::string> violations(const Diagnostics& diagnostics) {
  static const JsonSchema schema(nlohmann::json::parse(pipeline::diagnostics_schema()));
  return schema.violations(nlohmann::json::parse(diagnostics_json(diagnostics).dump()));
}

TEST(Diagnostics, IsAsTheSchemaSaysEmptyOrFull) {
  Diagnostics diagnostics;
  EXPECT_THAT(violations(diagnostics), IsEmpty());
  diagnostics.model = {.name = "m",
                       .architecture = "llama",
                       .checksum = "18446744073709551615",
                       .precision = "f32",
                       .vocab_size = 7};
  diagnostics.profile = "balanced";
  diagnostics.components = {{"loader", "plumb.loaders.gguf"}};
  diagnostics.kernels = {{"plumb.cpu.scalar", "canonical-1"}};
  diagnostics.generation.emplace().stop = pipeline::Stop{pipeline::Stop::Kind::kTail, 3, 7};
  diagnostics.kv.emplace();
  diagnostics.fail(ErrorCode::kBusy, "another one");
  EXPECT_THAT(violations(diagnostics), IsEmpty());
}

TEST(Diagnostics, CommittedSchemaIsCurrent) {
  const std::string path = PLUMB_SOURCE_DIR "/configs/schema/diagnostics.schema.json";
  if (std::getenv("PLUMB_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << pipeline::diagnostics_schema();
  std::ostringstream committed;
  committed << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(committed.str(), pipeline::diagnostics_schema())
      << "plumb config schema --diagnostics > configs/schema/diagnostics.schema.json";
}

TEST(Diagnostics, EveryFailureHasANumberAndASentence) {
  for (int stage = 0; stage <= static_cast<int>(Stage::kGeneration); ++stage) {
    for (plumb_status status = PLUMB_OK + 1; status < 40; ++status) {
      Diagnostics diagnostics;
      diagnostics.enter(static_cast<Stage>(stage));
      diagnostics.fail(Error{status, "seen, expected"});
      EXPECT_NE(diagnostics.code, ErrorCode::kOk);
      EXPECT_FALSE(stable_message(diagnostics.code).empty());
      EXPECT_EQ(diagnostics.code == ErrorCode::kCancelled, status == PLUMB_CANCELLED);
      EXPECT_THAT(violations(diagnostics), IsEmpty());
    }
  }
  for (uint32_t code = 0; code < pipeline::kErrorCodes; ++code)
    EXPECT_FALSE(error_name(static_cast<ErrorCode>(code)).empty());
}

TEST(Diagnostics, TheFirstFailureCounts) {
  Diagnostics diagnostics;
  diagnostics.load_status = LoadStatus::kKvAllocationSuccess;
  diagnostics.enter(Stage::kGeneration);
  diagnostics.generation.emplace().n_prompt_tokens = 1;
  diagnostics.fail(Error{PLUMB_NUMERIC, "a NaN"});
  diagnostics.fail(Error{PLUMB_INVALID_ARGUMENT, "later"});
  EXPECT_EQ(diagnostics.code, ErrorCode::kGenerationFailed);
  EXPECT_EQ(diagnostics.error_detail, "a NaN");
  EXPECT_EQ(diagnostics.load_status, LoadStatus::kKvAllocationSuccess);
}

TEST(Diagnostics, AnswersOfNoLengthAreTold) {
  Diagnostics diagnostics;
  const auto json = diagnostics_json(diagnostics);
  EXPECT_TRUE(json["volatile"]["performance_metrics"].is_null());
  diagnostics.generation.emplace();
  EXPECT_EQ(diagnostics_json(diagnostics)["volatile"]["performance_metrics"]["tokens_per_second"],
            0);
}

TEST(Diagnostics, ChecksumIsTheFirst64BitsOfASha256) {
  // Source  FIPS 180-2, appendix B.1: "abc".
  EXPECT_EQ(
      pipeline::checksum_of("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      "13436514500253700074");
  EXPECT_EQ(pipeline::checksum_of("ba78"), "");
  EXPECT_EQ(pipeline::checksum_of(std::string(64, 'x')), "");
}

}  // namespace
}  // namespace plumbline::test
