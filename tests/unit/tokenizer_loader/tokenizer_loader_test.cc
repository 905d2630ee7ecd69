// plumb.loaders.tokenizer: which files it takes, and what it publishes of them.
// Oracle: the keys of core/abi/plumb/metadata.h and GGUF, and the names under which transformers
// 5.24 saves tokenizers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "plugins/loaders/tokenizer/loader_table.h"
#include "tests/support/memory_host.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kJson = R"({"version": "1.0", "model": {"type": "BPE"}})";
constexpr const char* kConfig = R"({"chat_template": "T", "bos_token": "<s>"})";

const plumb_loader& table() {
  return loaders::tokenizer::loader_table();
}

/// An opened tokenizer: its text keys, or what was said against it.
class TokenizerLoader : public testing::Test {
 protected:
  ~TokenizerLoader() override { EXPECT_EQ(host_.n_mapped(), 0) << "mappings left open"; }

  void put(const std::string& path, std::string_view text) {
    host_.put(path, std::vector<uint8_t>(text.begin(), text.end()));
  }

  plumb_status open(const std::string& path) {
    texts_.clear();
    names_.clear();
    void* model = nullptr;
    const plumb_status status = table().open(&host_.host(), to_abi(path), &model, error_);
    EXPECT_EQ(status == PLUMB_OK, model != nullptr);
    if (model == nullptr) return status;
    const plumb_metadata* metadata = table().metadata(model);
    for (uint64_t i = 0;; ++i) {
      const plumb_str key = metadata->key_at(metadata->context, i);
      if (key.bytes == 0) break;
      auto value = make_abi<plumb_value>();
      EXPECT_EQ(metadata->get(metadata->context, key, &value), PLUMB_OK);
      if (value.type == PLUMB_VALUE_STR) {
        texts_[to_string(key)] = to_string(value.as.str);
      } else if (value.type == PLUMB_VALUE_STR_ARRAY) {
        for (uint64_t k = 0; k < value.as.array.n; ++k)
          names_.push_back(to_string(static_cast<const plumb_str*>(value.as.array.data)[k]));
      } else {
        ADD_FAILURE() << to_view(key);
      }
    }
    EXPECT_EQ(table().n_tensors(model), 0u);
    plumb_str json{};
    EXPECT_EQ(table().hyper_parameters(model, &json, error_), PLUMB_UNSUPPORTED);
    table().close(model);
    return status;
  }

  plumb_status recognise(const std::string& path, std::string_view head) {
    return table().recognise(to_abi(path),
                             {reinterpret_cast<const uint8_t*>(head.data()), head.size()}, error_);
  }

  MemoryHost host_;
  ErrorBuffer error_;
  std::map<std::string, std::string> texts_;
  std::vector<std::string> names_;
};

TEST_F(TokenizerLoader, TellsItsFilesByWhatIsInThem) {
  for (const std::string_view head :
       {std::string_view(kJson), std::string_view("\xEF\xBB\xBF \n{\"added_tokens\": []"),
        std::string_view("BTOK\1\0\0\0", 8), std::string_view("BPE1\1\0\0\0", 8),
        std::string_view("\x0A\x0E\x0A\x05<unk>"), std::string_view("")}) {
    EXPECT_EQ(recognise("a", head), PLUMB_OK) << head << error_.message();
  }
  EXPECT_EQ(recognise("a/tokenizer_config.json", kConfig), PLUMB_OK);
  for (const std::string_view head :
       {"GGUF\3", "root:x", "\x0A", "[1, 2]", R"({"hidden_size": 3})"}) {
    EXPECT_EQ(recognise("config.json", head), PLUMB_UNSUPPORTED) << head;
    EXPECT_FALSE(error_.message().empty());
  }
}

TEST_F(TokenizerLoader, PublishesTheTextsOfTheFilesThatBelongTogether) {
  put("m/tokenizer.json", kJson);
  put("m/tokenizer_config.json", kConfig);
  for (const char* path : {"m/tokenizer.json", "m/tokenizer_config.json"}) {
    ASSERT_EQ(open(path), PLUMB_OK) << error_.message();
    EXPECT_EQ(texts_, (std::map<std::string, std::string>{{"tokenizer.huggingface.json", kJson},
                                                          {"tokenizer.huggingface.config", kConfig},
                                                          {"tokenizer.chat_template", "T"}}));
  }
  put("m/chat_template.jinja", "newer");
  ASSERT_EQ(open("m/tokenizer.json"), PLUMB_OK);
  EXPECT_EQ(texts_["tokenizer.chat_template"], "newer");
}

TEST_F(TokenizerLoader, FilesThatShareABeginningBelongTogether) {
  put("bert.tokenizer.json", kJson);
  put("bert.tokenizer_config.json", kConfig);
  put("tokenizer_config.json", "{}");
  ASSERT_EQ(open("bert.tokenizer.json"), PLUMB_OK) << error_.message();
  EXPECT_EQ(texts_["tokenizer.huggingface.config"], kConfig);
}

TEST_F(TokenizerLoader, OtherKindsHaveTheirOwnKeys) {
  put("tokenizer.model", "\x0A\x0E\x0A\x05<unk>");
  ASSERT_EQ(open("tokenizer.model"), PLUMB_OK) << error_.message();
  EXPECT_EQ(texts_["tokenizer.sentencepiece.model"], "\x0A\x0E\x0A\x05<unk>");
  put("tiny.btok", "BTOK....");
  ASSERT_EQ(open("tiny.btok"), PLUMB_OK) << error_.message();
  EXPECT_EQ(texts_["tokenizer.slm"], "BTOK....");
}

TEST_F(TokenizerLoader, AConfigAloneHasATemplateAndNoTokenizer) {
  put("tokenizer_config.json", kConfig);
  ASSERT_EQ(open("tokenizer_config.json"), PLUMB_OK) << error_.message();
  EXPECT_EQ(texts_.count("tokenizer.huggingface.json"), 0u);
  EXPECT_EQ(texts_["tokenizer.chat_template"], "T");
}

TEST_F(TokenizerLoader, NamedTemplatesAreReachableByName) {
  put("tokenizer_config.json", R"({"chat_template": [{"name": "default", "template": "D"},
      {"name": "tool_use", "template": "U"}, {"name": "rag", "template": "R"}]})");
  ASSERT_EQ(open("tokenizer_config.json"), PLUMB_OK) << error_.message();
  EXPECT_EQ(texts_["tokenizer.chat_template"], "D");
  EXPECT_EQ(texts_["tokenizer.chat_template.tool_use"], "U");
  EXPECT_EQ(texts_["tokenizer.chat_template.rag"], "R");
  EXPECT_THAT(names_, ElementsAre("tool_use", "rag"));

  put("tokenizer_config.json", R"({"chat_template": [{"name": "only", "template": "O"}]})");
  ASSERT_EQ(open("tokenizer_config.json"), PLUMB_OK) << error_.message();
  EXPECT_EQ(texts_["tokenizer.chat_template"], "O");
}

TEST_F(TokenizerLoader, SaysWhatIsWrongWithAConfig) {
  const std::pair<const char*, const char*> refusals[] = {
      {"{\"chat_template\": ", "byte 19"},
      {"{} x", "byte 4"},
      {R"({"chat_template": 3})", "chat_template: expected a text"},
      {R"({"chat_template": ["x"]})", "chat_template[0]: expected an object"},
      {R"({"chat_template": [{"name": "a"}]})", "chat_template[0]: expected an object"},
      {R"({"chat_template": [{"name": "a/b", "template": ""}]})", "chat_template[0].name"},
      {R"({"chat_template": [{"name": "a", "template": ""}, {"name": "a", "template": ""}]})",
       "chat_template[1]: the name a is there twice"},
  };
  for (const auto& [text, message] : refusals) {
    put("tokenizer_config.json", text);
    EXPECT_EQ(open("tokenizer_config.json"), PLUMB_CORRUPT) << text;
    EXPECT_THAT(std::string(error_.message()), HasSubstr(message));
    EXPECT_THAT(std::string(error_.message()), HasSubstr("tokenizer_config.json"));
  }
}

TEST_F(TokenizerLoader, AFolderHoldsItsFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(open(folder.path("")), PLUMB_NOT_FOUND);
  EXPECT_THAT(std::string(error_.message()), HasSubstr("a folder without any of tokenizer.json"));
  put(folder.path("tokenizer.model"), "\x0A\x0E\x0A\x05<unk>");
  put(folder.path("tokenizer_config.json"), kConfig);
  ASSERT_EQ(open(folder.path("")), PLUMB_OK) << error_.message();
  EXPECT_EQ(texts_.count("tokenizer.sentencepiece.model"), 1u);
  EXPECT_EQ(texts_["tokenizer.chat_template"], "T");
}

// Oracle: the sanitizers, and MemoryHost's blocks of exactly the file's size.
TEST_F(TokenizerLoader, DamagedFilesGiveAnErrorOrATokenizer) {
  std::mt19937 random(7);
  const std::string config = R"({"chat_template": [{"name": "default", "template": "D"}]})";
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = config.substr(0, random() % (config.size() + 1));
    for (int n = random() % 4; n > 0 && !damaged.empty(); --n)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    put("tokenizer.json", damaged.empty() ? "{" : damaged);
    put("tokenizer_config.json", damaged.empty() ? "{" : damaged);
    (void)open("tokenizer.json");
    (void)open("tokenizer_config.json");
    (void)recognise("tokenizer.json", damaged);
  }
  put("tokenizer.json", kJson);
  put("tokenizer_config.json", std::string(1000000, '['));
  EXPECT_EQ(open("tokenizer_config.json"), PLUMB_UNSUPPORTED);
  put("tokenizer_config.json", "{\"a\":" + std::string(1000000, '['));
  EXPECT_EQ(open("tokenizer_config.json"), PLUMB_CORRUPT);
}

}  // namespace
}  // namespace plumbline::test
