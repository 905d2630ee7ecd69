// Streams of public vocabularies. Oracle: DecodeStream of the tokenizers library, golden/cases; an
// empty step means that bytes are held back.
#include "core/pipeline/text_stream.h"

#include "core/pipeline/pipeline.h"
#include "tests/support/build_host.h"
#include "tests/support/golden_cases.h"
#include "tests/support/pulled_model.h"

namespace plumbline::test {
namespace {

class StreamDecode : public testing::TestWithParam<const char*> {};

TEST_P(StreamDecode, ShowsWhatTheTokenizersLibraryShows) {
  const std::string name = GetParam();
  const std::string path = pulled_model("tokenizer-" + name);
  if (path.empty()) GTEST_SKIP() << "plumb model pull tokenizer-" << name;
  config::PipelineConfig config;
  config.model.loader = config.tokenizer.plugin = config::kAuto;
  const auto opened = pipeline::Pipeline::open(config, host(), path);
  ASSERT_TRUE(opened) << opened.error().message;
  const auto made = (*opened)->tokenizer();
  ASSERT_TRUE(made) << made.error().message;
  size_t n_cases = 0;
  for (const auto& line : read_jsonl(golden_path("cases/tokenization.jsonl"))) {
    const std::string file = line["params"].value("tokenizer_file", "");
    if (line["input"]["op"] != "stream_decode" || file.find(name) == std::string::npos) continue;
    ++n_cases;
    const auto ids = line["input"]["value"].get<std::vector<int32_t>>();
    pipeline::TextStream stream(pipeline::IllFormed::kMaximalSubpart);
    std::vector<std::string> steps;
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool is_byte = ((*made)->attributes(ids[i]) & PLUMB_TOKEN_BYTE) != 0;
      stream.feed(*(*made)->piece(ids[i], i == 0), is_byte, steps.emplace_back());
    }
    EXPECT_EQ(steps, line["expected"]["steps"].get<std::vector<std::string>>()) << line["id"];
    const auto text = pipeline::decode_text(
        **made, ids, pipeline::ill_formed(config::IllFormed::kAsTokenizer, (*made)->info()));
    ASSERT_TRUE(text);
    EXPECT_EQ(*text, line["expected"]["final"].get<std::string>()) << line["id"];
  }
  EXPECT_GT(n_cases, 0u);
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, StreamDecode,
                         testing::Values("qwen3", "llama3_1", "gemma3", "llama2"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace plumbline::test
