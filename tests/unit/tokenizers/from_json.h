// from_json.h: plumb.tokenizers.hf out of the text of a tokenizer.json.
#pragma once

#include <memory>
#include <string>

#include "plugins/tokenizers/hf/tokenizer.h"
#include "tests/support/made_metadata.h"
#include "tests/support/tokenizer_instance.h"

namespace plumbline::tokenizers::hf {

struct FromJson {
  test::MadeMetadata made;
  std::unique_ptr<test::TokenizerInstance> instance;

  explicit FromJson(const std::string& text, const std::string& config = "") {
    made.text("tokenizer.huggingface.json", text);
    if (!config.empty()) made.text("tokenizer.huggingface.config", config);
    instance = std::make_unique<test::TokenizerInstance>(
        *tokenizer::TokenizerTable<Tokenizer>::get(), made.metadata());
  }
  const test::TokenizerInstance* operator->() const { return instance.get(); }
};

}  // namespace plumbline::tokenizers::hf
