// text_pipelines.h: pipelines of a tokenizer.json, its config and a template, without a model.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/diff/text_signatures/diagnose.h"
#include "core/pipeline/pipeline.h"
#include "tests/support/build_host.h"
#include "tests/support/golden_cases.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::test {

inline std::string text_of_file(const std::string& path) {
  const std::vector<uint8_t> bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

/// A tokenizer.json and what stands beside it.
struct Vocabulary {
  nlohmann::json tokenizer;
  nlohmann::json config = nlohmann::json::object();
};

/// One of golden/made_tokenizers.
inline Vocabulary made_vocabulary(const std::string& name) {
  Vocabulary made;
  made.tokenizer =
      nlohmann::json::parse(text_of_file(golden_path("made_tokenizers/" + name + ".json")));
  return made;
}

class TextPipeline {
 public:
  using Configure = std::function<void(config::PipelineConfig&)>;
  TextPipeline(const Vocabulary& vocabulary, std::string_view chat_template,
               const Configure& configure = {}) {
    folder_.write("tokenizer_config.json", vocabulary.config.dump());
    open(folder_.write("tokenizer.json", vocabulary.tokenizer.dump()), chat_template, configure);
  }
  /// Of a model file.
  TextPipeline(const std::string& path, std::string_view chat_template,
               const Configure& configure = {}) {
    open(path, chat_template, configure);
  }
  pipeline::Pipeline& operator*() const { return *pipeline_; }
  pipeline::Pipeline* operator->() const { return pipeline_.get(); }

 private:
  void open(const std::string& path, std::string_view chat_template, const Configure& configure) {
    config::PipelineConfig config;
    config.model.loader = config.tokenizer.plugin = config::kAuto;
    config.chat_template.plugin = "jinja";
    config.chat_template.undefined = "hf";
    if (!chat_template.empty())
      config.chat_template.path = folder_.write("chat.jinja", chat_template);
    if (configure) configure(config);
    auto opened = pipeline::Pipeline::open(config, host(), path);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    if (opened) pipeline_ = *std::move(opened);
  }

  TemporaryFolder folder_;
  std::unique_ptr<pipeline::Pipeline> pipeline_;
};

/// How diagnoses of mutants came out.
struct Score {
  int n_right = 0;  // the mutant's cause, or a declared equivalent of it
  int n_unknown = 0;  // nothing named
  int n_wrong = 0;
  std::string misses;

  void count(const std::string& what, const std::string& wanted,
             const std::optional<diff::Cause>& cause) {
    const bool is_right =
        cause && (cause->signature == wanted || std::ranges::count(cause->also, wanted) > 0);
    ++(is_right ? n_right : cause ? n_wrong : n_unknown);
    if (!is_right) {
      misses += "\n  " + what + ": " + wanted + " expected, " +
                (cause ? cause->signature + " named: " + cause->statement : "nothing named");
    }
  }
};
inline std::ostream& operator<<(std::ostream& out, const Score& score) {
  return out << score.n_right << " right, " << score.n_unknown << " unknown, " << score.n_wrong
             << " wrong" << score.misses;
}

}  // namespace plumbline::test
