// golden_vocabularies.h: a model file's own vocabulary against the reference tokenizers' ids and
// bytes.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "core/host/host.h"
#include "tests/support/golden_cases.h"
#include "tests/support/tokenizer_instance.h"

namespace plumbline::test {

/// A model file, and the one tokenizer among all plugins that recognises it.
class ModelVocabulary {
 public:
  explicit ModelVocabulary(const std::string& path) {
    HostOptions options;
    options.paths = {PLUMB_BUILD_PLUGIN_DIR};
    options.search_environment = options.search_user = options.search_install = false;
    auto host = Host::create(options);
    if (!host) throw std::runtime_error(host.error().message);
    auto loader = host->find<plumb_loader>({.pin = "plumb.loaders.gguf"});
    if (!loader) throw std::runtime_error(loader.error().message);
    loader_ = loader->table;
    ErrorBuffer error;
    if (loader_->open(loader->host, to_abi(path), &model_, error) != PLUMB_OK) {
      throw std::runtime_error(std::string(error.message()));
    }
    const plumb_metadata* metadata = loader_->metadata(model_);
    for (const auto& tokenizer : host->find_all<plumb_tokenizer>()) {
      if (tokenizer.table->recognise(metadata, nullptr) != PLUMB_OK) continue;
      plugins_.push_back(tokenizer.id);
      instance_ = std::make_unique<TokenizerInstance>(*tokenizer.table, *metadata);
    }
  }
  ~ModelVocabulary() {
    instance_.reset();
    if (model_ != nullptr) loader_->close(model_);
  }

  const std::vector<std::string>& plugins() const { return plugins_; }
  const TokenizerInstance& tokenizer() const { return *instance_; }

 private:
  const plumb_loader* loader_ = nullptr;
  void* model_ = nullptr;
  std::vector<std::string> plugins_;
  std::unique_ptr<TokenizerInstance> instance_;
};

inline std::string bytes_of_hex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return out;
}

/// golden/tokenizers and golden/tokenizer_fuzz of one model.
inline void expect_golden(const std::string& name, const std::string& path,
                          const std::string& plugin) {
  const ModelVocabulary model(path);
  ASSERT_THAT(model.plugins(), testing::ElementsAre(plugin));
  const TokenizerInstance& tokenizer = model.tokenizer();
  ASSERT_EQ(tokenizer.status(), PLUMB_OK) << tokenizer.message();

  for (const std::string& file :
       {"tokenizers/" + name + ".jsonl", "tokenizer_fuzz/" + name + ".jsonl"}) {
    const auto lines = read_jsonl(golden_path(file));
    ASSERT_GE(lines.size(), 300u) << file;
    for (const auto& line : lines) {
      const std::string text =
          line.contains("text") ? line["text"].get<std::string>() : bytes_of_hex(line["bytes_hex"]);
      const uint32_t special = line["special"] == "parse" ? PLUMB_SPECIAL_PARSE : PLUMB_SPECIAL_OFF;
      EXPECT_EQ(tokenizer.ids(text, special), line["ids"].get<std::vector<int32_t>>())
          << file << ": " << line;
    }
  }
  for (const auto& line : read_jsonl(golden_path("tokenizers/" + name + ".decode.jsonl"))) {
    std::string bytes;
    for (const int32_t id : line["ids"].get<std::vector<int32_t>>()) {
      if (line["special"] == "skip" && (tokenizer.attributes(id) & PLUMB_TOKEN_CONTROL) != 0)
        continue;
      bytes += tokenizer.piece(id);
    }
    EXPECT_EQ(bytes, bytes_of_hex(line["bytes_hex"])) << line;
  }
}

}  // namespace plumbline::test
