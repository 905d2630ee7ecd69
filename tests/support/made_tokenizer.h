// made_tokenizer.h: a tokenizer.json that a test makes up: every byte a token, no merges, and added
// literals.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "core/config/pipeline_config.h"
#include "core/pipeline/pipeline.h"
#include "plumb/sdk/utf8.h"
#include "tests/support/build_host.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::test {

/// Byte b has id b; the added literals follow from 256 on, each a content with the flags that
/// differ from false.
inline nlohmann::json made_tokenizer(const nlohmann::json& literals) {
  nlohmann::json vocabulary = nlohmann::json::object();
  char32_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    // Source  GPT-2's encoder.py, bytes_to_unicode: what can be seen stands for itself.
    const bool is_visible = (byte > 32 && byte < 127) || (byte > 160 && byte < 173) || byte > 173;
    std::string text;
    utf8::append(text, is_visible ? static_cast<char32_t>(byte) : next++);
    vocabulary[text] = byte;
  }
  nlohmann::json added = nlohmann::json::array();
  for (const nlohmann::json& literal : literals) {
    nlohmann::json token = {{"id", 256 + added.size()}, {"single_word", false}, {"lstrip", false},
                            {"rstrip", false},          {"normalized", false},  {"special", false}};
    token.update(literal);
    added.push_back(token);
  }
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer", nullptr},
          {"pre_tokenizer",
           {{"type", "ByteLevel"},
            {"add_prefix_space", false},
            {"trim_offsets", true},
            {"use_regex", false}}},
          {"post_processor", nullptr},
          {"decoder",
           {{"type", "ByteLevel"},
            {"add_prefix_space", true},
            {"trim_offsets", true},
            {"use_regex", true}}},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"vocab", vocabulary},
            {"merges", nlohmann::json::array()}}}};
}

/// A pipeline of a tokenizer.json and a template, without a model.
class MadePipeline {
 public:
  MadePipeline(const nlohmann::json& tokenizer_json, std::string_view chat_template,
               std::vector<std::string> control_literals = {}) {
    config::PipelineConfig config;
    config.model.loader = config.tokenizer.plugin = config::kAuto;
    config.tokenizer.control_literals = std::move(control_literals);
    config.chat_template.plugin = "jinja";
    config.chat_template.undefined = "hf";
    config.chat_template.path = folder_.write("chat.jinja", chat_template);
    auto opened = pipeline::Pipeline::open(config, host(),
                                           folder_.write("tokenizer.json", tokenizer_json.dump()));
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    if (opened) pipeline_ = *std::move(opened);
  }
  pipeline::Pipeline* operator->() const { return pipeline_.get(); }

  /// The ids of a rendered conversation.
  Result<pipeline::Encoding> encode(const pipeline::OrderedJson& messages) const {
    PLUMB_ASSIGN(const pipeline::Prompt prompt, pipeline_->render(messages, {}));
    return pipeline_->encode_prompt(prompt);
  }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<pipeline::Pipeline> pipeline_;
};

}  // namespace plumbline::test
