// sides.h: the models, sides and prompts of the suite, by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/config/load.h"
#include "core/diff/engine.h"
#include "core/pipeline/pipeline.h"

namespace plumbline::diff::test {

/// A side with what it stands on, which must outlive it.
struct OpenedSide {
  config::ResolvedConfig config;
  std::unique_ptr<pipeline::Pipeline> pipeline;
  std::unique_ptr<Side> side;
};

/// model: a pulled one ("gemma3-270m"), one of golden/models ("tiny-qwen3"), or either in another
/// format, made here by this project's quantiser ("smollm2-135m@Q6_K"). settings: values of
/// the config. other: a side of the same model need not hash the file again. host: null for that of
/// this build's plugins.
Result<std::unique_ptr<OpenedSide>> open_side(const std::string& model,
                                              const std::vector<std::string>& settings,
                                              const OpenedSide* other = nullptr,
                                              Host* host = nullptr);

/// Made of random weights: they know no text.
bool is_tiny(const std::string& model);

/// Half of golden/texts/prompts.jsonl: "calibration", "held_out".
const std::vector<std::string>& texts(const std::string& half);

/// Of that text, for a tiny model as many ids, made up.
PromptInput prompt_for(const OpenedSide& side, const std::string& model, const std::string& text);

/// A text of more tokens than any model's window is long.
std::string long_text();

/// configs/diff/noise.json.
const NoiseTable& shipped_noise();

/// Everything, not only a share of it that was chosen once.
bool is_long();

/// Numbers that look random and are the same everywhere.
uint32_t chosen(uint32_t what, uint32_t n);

}  // namespace plumbline::diff::test
