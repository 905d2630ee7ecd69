// rope_facts.h: GGUF's statements about rotary position embedding, translated.
#pragma once

#include <nlohmann/json.hpp>

#include "facts.h"

namespace plumbline::loaders::gguf {

/// The `rope` object of ext/loader.h.
/// Source: llama.cpp, llama_model_base::load_hparams (keys and defaults), llama_model_rope_type
/// (pairing), rope_yarn in ggml-cpu/ops.cpp (attention factor).
Result<nlohmann::json> rope(const Facts& facts, std::string_view pairing, uint64_t head_width,
                            uint64_t n_context_train);

/// The `rope_local` object, for the sliding layers of Gemma 3: a base of its own, never scaled.
Result<nlohmann::json> rope_local(const Facts& facts, const nlohmann::json& global);

}  // namespace plumbline::loaders::gguf
