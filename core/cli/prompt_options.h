// prompt_options.h: what a verb is to run on: a text, a conversation, or ids.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "core/cli/turn_options.h"
#include "core/pipeline/pipeline.h"

namespace plumbline::cli {

/// -p, --messages and --raw, with the options of turns.
struct PromptOptions {
  std::string prompt;
  std::string messages_file;
  TurnOptions turns;
  bool raw = false;

  void add_to(CLI::App& verb);
  bool is_given() const { return !prompt.empty() || !messages_file.empty(); }
  /// The prompt's bytes: rendered, unless they are to be raw or the model has no template. Neither
  /// given: stdin.
  pipeline::Prompt make(pipeline::Pipeline& pipeline);
};

/// "1,2,3" of an option.
std::vector<int32_t> parse_ids(const std::string& text, const std::string& option = "--ids");

}  // namespace plumbline::cli
