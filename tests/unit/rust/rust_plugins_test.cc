// Oracle: core/abi/plumb/ext/{tokenizer,template}.h: what callers may do wrong, and what plugins in
// Rust must then answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/ext/template.h"
#include "plumb/ext/tokenizer.h"
#include "plumb/sdk/abi.h"
#include "tests/support/build_plugins.h"
#include "tests/support/golden_cases.h"
#include "tests/support/made_metadata.h"
#include "tests/support/tokenizer_instance.h"

namespace plumbline::test {
namespace {

constexpr char kJson[] = "tokenizer.huggingface.json";

template <typename Table>
const Table& table_of(std::string_view id, const char* extension) {
  static const auto plugins = open_plugins(PLUMB_BUILD_PLUGIN_DIR, extension);
  const auto found = std::ranges::find_if(
      plugins, [&](const plumb_plugin* one) { return to_view(one->id) == id; });
  return *static_cast<const Table*>((*found)->extension(to_abi(extension)));
}

const plumb_tokenizer& tokenizers() {
  return table_of<plumb_tokenizer>("plumb.tokenizers.hf_rust", PLUMB_EXT_TOKENIZER);
}
const plumb_template_engine& engines() {
  return table_of<plumb_template_engine>("plumb.templates.minijinja", PLUMB_EXT_TEMPLATE);
}

std::string made_tokenizer(const std::string& name) {
  const auto bytes = read_file(golden_path("made_tokenizers/" + name + ".json"));
  return {bytes.begin(), bytes.end()};
}

plumb_status create_from(std::string_view json, std::string_view config = "") {
  MadeMetadata metadata;
  metadata.text(kJson, json);
  if (!config.empty()) metadata.text("tokenizer.huggingface.config", config);
  void* self = nullptr;
  ErrorBuffer error;
  const plumb_status status =
      tokenizers().create(nullptr, &metadata.metadata(), {nullptr, 0}, &self, error);
  EXPECT_EQ(status == PLUMB_OK, self != nullptr);
  EXPECT_EQ(status == PLUMB_OK, error.message().empty()) << error.message();
  if (self != nullptr) tokenizers().destroy(self);
  return status;
}

TEST(Rust_Tokenizer, ServesOnlyTokenizerJson) {
  MadeMetadata metadata;
  EXPECT_EQ(tokenizers().recognise(&metadata.metadata(), nullptr), PLUMB_UNSUPPORTED);
  metadata.integer(kJson, 1);
  EXPECT_EQ(tokenizers().recognise(&metadata.metadata(), nullptr), PLUMB_CORRUPT);
  metadata.text(kJson, "{}");
  EXPECT_EQ(tokenizers().recognise(&metadata.metadata(), nullptr), PLUMB_OK);
  EXPECT_EQ(tokenizers().recognise(nullptr, nullptr), PLUMB_INVALID_ARGUMENT);
}

TEST(Rust_Tokenizer, BrokenFilesAreAnErrorAndNeverMore) {
  const std::string good = made_tokenizer("modern-bpe");
  EXPECT_EQ(create_from(good), PLUMB_OK);
  EXPECT_EQ(create_from(good, R"({"eos_token": {"content": "<|im_end|>"}})"), PLUMB_OK);
  EXPECT_EQ(create_from(good, "{"), PLUMB_CORRUPT);
  for (const std::string& broken :
       {std::string(), std::string("{}"), std::string("[]"), good.substr(0, good.size() / 2),
        std::string(100000, '['),
        std::string(R"({"model": {"type": "BPE", "vocab": {}, "merges": []}})"),
        std::string(R"({"model": {"type": "BPE", "vocab": {"a": 4294967295}, "merges": []}})"),
        std::string(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}})"),
        std::string(R"({"model": {"type": "Unigram", "vocab": [], "unk_id": 7}})")}) {
    EXPECT_NE(create_from(broken), PLUMB_OK) << broken.substr(0, 80);
  }
  EXPECT_EQ(create_from("\xff"), PLUMB_INVALID_ARGUMENT);
  for (size_t at = 1; at < good.size(); at += 97) {  // whatever the answer is, there is one
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 5);
    create_from(damaged);
  }
}

class RustTokenizer : public testing::Test {
 protected:
  RustTokenizer()
      : metadata_(),
        tokenizer_(tokenizers(), metadata_.text(kJson, made_tokenizer("modern-bpe")).metadata()) {}
  plumb_status encode(const plumb_encode_request* request, plumb_encode_result* result) {
    return tokenizers().encode(tokenizer_.self(), request, result, error_);
  }
  MadeMetadata metadata_;
  TokenizerInstance tokenizer_;
  ErrorBuffer error_;
};

TEST_F(RustTokenizer, WrongArgumentsAreAnError) {
  ASSERT_EQ(tokenizer_.status(), PLUMB_OK) << tokenizer_.message();
  auto request = make_abi<plumb_encode_request>();
  auto result = make_abi<plumb_encode_result>();
  EXPECT_EQ(encode(nullptr, &result), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(encode(&request, nullptr), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(encode(&request, &result), PLUMB_OK) << "an empty text";
  request.special = 2;
  EXPECT_EQ(encode(&request, &result), PLUMB_INVALID_ARGUMENT);
  request.special = PLUMB_SPECIAL_OFF;
  request.text = {nullptr, 5};
  EXPECT_EQ(encode(&request, &result), PLUMB_INVALID_ARGUMENT);
  request.text = {"x", uint64_t{1} << 40};
  EXPECT_EQ(encode(&request, &result), PLUMB_INVALID_ARGUMENT);
  request.text = to_abi("Hello");
  result.capacity = 1;
  EXPECT_EQ(encode(&request, &result), PLUMB_INVALID_ARGUMENT) << "no ids";
  result.capacity = 0;
  EXPECT_EQ(encode(&request, &result), PLUMB_MORE_SPACE);
  EXPECT_GT(result.n, 0U);
  request.struct_bytes = 8;
  EXPECT_EQ(encode(&request, &result), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(tokenizers().encode(nullptr, &request, &result, nullptr), PLUMB_INVALID_ARGUMENT);
  plumb_bytes bytes{};
  for (const int32_t id : {-1, INT32_MAX, static_cast<int32_t>(tokenizer_.info().n_vocab)}) {
    EXPECT_EQ(tokenizers().piece(tokenizer_.self(), id, 0, &bytes, error_), PLUMB_INVALID_ARGUMENT);
    EXPECT_EQ(tokenizer_.attributes(id), PLUMB_TOKEN_UNUSED);
  }
  EXPECT_EQ(tokenizers().piece(tokenizer_.self(), 0, 0, nullptr, nullptr), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(tokenizers().info(tokenizer_.self(), nullptr, nullptr), PLUMB_INVALID_ARGUMENT);
  tokenizers().destroy(nullptr);
}

TEST_F(RustTokenizer, LongAndBrokenTextsKeepTheirPlaces) {
  for (const std::string& text : {std::string(1000000, 'a'), std::string(100000, '\xff'),
                                  std::string("a\xf0\x9f\x98 b\xe4"), std::string(50000, '\0')}) {
    const Encoded encoded = tokenizer_.encode(text);  // checks the spans
    ASSERT_FALSE(encoded.spans.empty());
    EXPECT_EQ(encoded.spans.back().end, text.size());
  }
}

TEST_F(RustTokenizer, RefusesAForgedControlToken) {
  const std::string text = "a<|im_start|>b<|im_start|>";
  const std::vector<uint64_t> all((tokenizer_.info().n_vocab + 63) / 64, ~uint64_t{0});
  std::vector<uint64_t> control(all.size(), 0);
  for (int32_t id = 0; id < static_cast<int32_t>(tokenizer_.info().n_vocab); ++id) {
    if (tokenizer_.attributes(id) & PLUMB_TOKEN_CONTROL) control[id / 64] |= uint64_t{1} << id % 64;
  }
  std::vector<int32_t> ids(100);
  auto request = make_abi<plumb_encode_request>();
  request.special = PLUMB_SPECIAL_PARSE;
  request.text = to_abi(text);
  request.n_untrusted = 1;
  request.barred_bits = control.data();
  auto result = make_abi<plumb_encode_result>();
  result.ids = ids.data();
  result.capacity = ids.size();
  EXPECT_EQ(encode(&request, &result), PLUMB_INVALID_ARGUMENT) << "ranges that are null";
  plumb_span untrusted = {13, 14};
  request.untrusted = &untrusted;
  EXPECT_EQ(encode(&request, &result), PLUMB_OK) << "only the b is a stranger's";
  untrusted = {13, 15};
  EXPECT_EQ(encode(&request, &result), PLUMB_UNSUPPORTED);
  request.barred_bits = nullptr;
  EXPECT_EQ(encode(&request, &result), PLUMB_OK);
}

TEST(Rust_Template, WrongArgumentsAreAnError) {
  const auto& table = engines();
  ErrorBuffer error;
  void* self = nullptr;
  EXPECT_EQ(table.create(nullptr, to_abi("x"), to_abi("{}"), nullptr, error),
            PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(table.create(nullptr, to_abi("\xff"), to_abi("{}"), &self, error), PLUMB_CORRUPT);
  EXPECT_EQ(table.create(nullptr, {nullptr, 9}, to_abi("{}"), &self, error), PLUMB_CORRUPT);
  EXPECT_EQ(table.create(nullptr, to_abi("{% if %}"), to_abi("{}"), &self, error), PLUMB_CORRUPT);
  EXPECT_EQ(table.create(nullptr, to_abi("x"), to_abi("[]"), &self, error), PLUMB_INVALID_CONFIG);
  const std::string deep = std::string(100000, '(') + "1";
  EXPECT_EQ(table.create(nullptr, to_abi("{{ " + deep), to_abi("{}"), &self, error), PLUMB_CORRUPT);
  EXPECT_EQ(self, nullptr);
  ASSERT_EQ(table.create(nullptr, to_abi("{{ a }}!"), to_abi(""), &self, error), PLUMB_OK);
  auto request = make_abi<plumb_render_request>();
  request.context_json = to_abi(R"({"a": "xyz"})");
  uint64_t n_bytes = 0;
  char out[8];
  EXPECT_EQ(table.render(self, nullptr, out, sizeof out, &n_bytes, error), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(table.render(self, &request, out, sizeof out, nullptr, error), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(table.render(self, &request, nullptr, 8, &n_bytes, error), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(table.render(nullptr, &request, out, 8, &n_bytes, error), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(table.render(self, &request, nullptr, 0, &n_bytes, error), PLUMB_MORE_SPACE);
  EXPECT_EQ(n_bytes, 4U);
  EXPECT_EQ(table.render(self, &request, out, sizeof out, &n_bytes, error), PLUMB_OK);
  EXPECT_EQ(std::string_view(out, n_bytes), "xyz!");
  table.destroy(self);
  table.destroy(nullptr);
}

TEST(Rust_Template, FuelAndRecursionEnd) {
  const auto& table = engines();
  for (const char* endless :
       {"{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"}) {
    void* self = nullptr;
    ErrorBuffer error;
    ASSERT_EQ(table.create(nullptr, to_abi(endless), to_abi(""), &self, error), PLUMB_OK);
    auto request = make_abi<plumb_render_request>();
    request.context_json = to_abi("{}");
    request.fuel = 100000;
    uint64_t n_bytes = 0;
    EXPECT_NE(table.render(self, &request, nullptr, 0, &n_bytes, error), PLUMB_OK);
    EXPECT_NE(error.message(), "");
    table.destroy(self);
  }
}

}  // namespace
}  // namespace plumbline::test
