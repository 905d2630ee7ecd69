// translation.h: GGUF's metadata and tensors -> the JSON object of ext/loader.h.
#pragma once

#include <string>

#include "file.h"

namespace plumbline::loaders::gguf {

/// Architectures: llama, qwen2, qwen3, gemma3.
/// Fails UNSUPPORTED (another architecture, or something in these four that has no word in the
/// JSON), CORRUPT (a needed key is missing or out of range). Source: llama.cpp, llama-arch.cpp
/// (keys) and the load_hparams of each architecture (defaults).
Result<std::string> hyper_parameters(const File& file);

}  // namespace plumbline::loaders::gguf
