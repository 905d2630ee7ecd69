// tokenizer_files.h: what a tokenizer consists of on a disk, and how its files are told apart.
#pragma once

#include <optional>
#include <string>

#include "plumb/sdk/host_file.h"

namespace plumbline::loaders::tokenizer {

enum class Kind {
  kFolder,  // of the files below
  kHuggingface,  // tokenizer.json
  kConfig,  // tokenizer_config.json
  kSentencepiece,  // tokenizer.model: a ModelProto, its pieces first
  kSlm,  // BTOK or BPE1: the tokenizer of an .slm file
};

/// By the file's name and its first bytes; no bytes are a folder's. Fails UNSUPPORTED: what was
/// seen.
Result<Kind> kind_of(std::string_view path, plumb_bytes head);

/// The files that belong together. A tokenizer_config.json may be alone: then there is a chat
/// template and no tokenizer.
struct TokenizerFiles {
  Kind kind = Kind::kConfig;  // of `tokenizer`
  std::optional<HostFile> tokenizer;
  std::optional<HostFile> config;  // tokenizer_config.json
  std::optional<HostFile> chat_template;  // chat_template.jinja
};

/// Opens the file at path, or the first tokenizer of a folder, and what lies beside it under the
/// ordinary names: NAMEtokenizer.json has NAMEtokenizer_config.json and NAMEchat_template.jinja.
/// Fails NOT_FOUND (no such file; a folder with none of them), CORRUPT (an empty or overlong file).
Result<TokenizerFiles> open_files(const plumb_host& host, const std::string& path);

}  // namespace plumbline::loaders::tokenizer
