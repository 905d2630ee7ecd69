// vocabulary.h: what every tokenizer reads out of "tokenizer.ggml.*": tokens, their kinds, the ids
// with a role, and which tokens end a generation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plumb/ext/tokenizer.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/result.h"

namespace plumbline::tokenizer {

/// Typed questions to a plumb_metadata. A key that is absent is an answer; a key of another type is
/// CORRUPT.
class MetadataReader {
 public:
  explicit MetadataReader(const plumb_metadata& metadata) : metadata_(metadata) {}

  plumb_value get(std::string_view key) const {
    plumb_value value = make_abi<plumb_value>();
    if (metadata_.get(metadata_.context, to_abi(key), &value) != PLUMB_OK)
      value.type = PLUMB_VALUE_NONE;
    return value;
  }

  Result<std::string_view> text(std::string_view key, std::string_view otherwise) const {
    const plumb_value value = get(key);
    if (value.type == PLUMB_VALUE_NONE) return otherwise;
    if (value.type != PLUMB_VALUE_STR) return wrong_type(key, "a string");
    return to_view(value.as.str);
  }

  Result<bool> flag(std::string_view key, bool otherwise) const {
    const plumb_value value = get(key);
    if (value.type == PLUMB_VALUE_NONE) return otherwise;
    if (value.type != PLUMB_VALUE_BOOL) return wrong_type(key, "a boolean");
    return value.as.u64 != 0;
  }

  /// A token id; `otherwise` if the key is absent or names no token (as llama.cpp does; such files
  /// exist).
  Result<int32_t> token_id(std::string_view key, int32_t otherwise, uint64_t n_vocab) const {
    const plumb_value value = get(key);
    if (value.type == PLUMB_VALUE_NONE) return otherwise;
    uint64_t id = 0;
    if (value.type == PLUMB_VALUE_U64) {
      id = value.as.u64;
    } else if (value.type == PLUMB_VALUE_I64) {
      id = static_cast<uint64_t>(value.as.i64);
    } else {
      return wrong_type(key, "an integer");
    }
    return id < n_vocab ? static_cast<int32_t>(id) : otherwise;
  }

  /// The elements of an array; an empty span of null if the key is absent.
  template <typename T>
  Result<std::span<const T>> array(std::string_view key) const {
    static_assert(std::is_same_v<T, int32_t> || std::is_same_v<T, float> ||
                  std::is_same_v<T, plumb_str>);
    constexpr uint32_t kType = std::is_same_v<T, int32_t> ? PLUMB_VALUE_I32_ARRAY
                               : std::is_same_v<T, float> ? PLUMB_VALUE_F32_ARRAY
                                                          : PLUMB_VALUE_STR_ARRAY;
    const plumb_value value = get(key);
    if (value.type == PLUMB_VALUE_NONE) return std::span<const T>();
    if (value.type != kType) {
      return wrong_type(key, kType == PLUMB_VALUE_I32_ARRAY   ? "an array of i32"
                             : kType == PLUMB_VALUE_F32_ARRAY ? "an array of f32"
                                                              : "an array of strings");
    }
    if (value.as.array.n > std::numeric_limits<int32_t>::max()) {
      return Error{PLUMB_CORRUPT,
                   std::string(key) + ": " + std::to_string(value.as.array.n) + " elements"};
    }
    return std::span<const T>(static_cast<const T*>(value.as.array.data), value.as.array.n);
  }

 private:
  static Error wrong_type(std::string_view key, const char* expected) {
    return {PLUMB_CORRUPT, std::string(key) + ": " + expected + " expected, another type found"};
  }

  const plumb_metadata& metadata_;
};

/// What a kind of vocabulary assumes where the file says nothing.
struct VocabularyDefaults {
  int32_t bos_id = -1;
  int32_t eos_id = -1;
  int32_t unknown_id = -1;
  bool add_bos = false;
};

/// The literals that end a generation wherever they are tokens.
/// Source  llama.cpp, src/llama-vocab.cpp, "maintain a list of tokens that cause
/// end-of-generation".
inline constexpr std::string_view kEndLiterals[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
    // Fill-in-the-middle: padding, repository, file separator.
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<PAD>",
    "[PAD]",
    "<|fim_repo|>",
    "<|repo_name|>",
    "<fim-repo>",
    "<REPO>",
    "<reponame>",
    "<|file_sep|>",
};

/// Which tokens can be ends by their literal: all, or added ones only.
enum class Ends : uint8_t { kAll, kLiteralsOnly };

/// Tokens, attributes and roles. The token texts are borrowed from the metadata.
struct Vocabulary {
  std::span<const plumb_str> tokens;
  std::vector<uint8_t> attributes;  // PLUMB_TOKEN_* of each token
  plumb_tokenizer_info info = make_abi<plumb_tokenizer_info>();

  std::string_view text(int32_t id) const { return to_view(tokens[id]); }
  bool is(int32_t id, uint32_t attribute) const { return (attributes[id] & attribute) != 0; }
  bool contains(int32_t id) const { return id >= 0 && static_cast<size_t>(id) < tokens.size(); }
  /// A literal that only PLUMB_SPECIAL_PARSE turns into its id.
  bool is_special(int32_t id) const { return is(id, PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_UNKNOWN); }

  static Result<Vocabulary> read(const MetadataReader& metadata,
                                 const VocabularyDefaults& defaults);
  /// Marks the tokens that end a generation: those named, unless -1, and those of kEndLiterals.
  void mark_ends(std::initializer_list<int32_t> named, Ends ends);

 private:
  Result<void> read_kinds(const MetadataReader& metadata);
  Result<void> read_roles(const MetadataReader& metadata, const VocabularyDefaults& defaults);
  /// An end is control, never text, unless the file itself says that its literal is text.
  void mark_end(int32_t id) {
    attributes[id] |=
        is(id, PLUMB_TOKEN_USER_DEFINED) ? PLUMB_TOKEN_END : PLUMB_TOKEN_END | PLUMB_TOKEN_CONTROL;
  }
};

inline Result<Vocabulary> Vocabulary::read(const MetadataReader& metadata,
                                           const VocabularyDefaults& defaults) {
  Vocabulary out;
  PLUMB_ASSIGN(out.tokens, metadata.array<plumb_str>("tokenizer.ggml.tokens"));
  if (out.tokens.empty()) return Error{PLUMB_CORRUPT, "tokenizer.ggml.tokens: missing or empty"};
  out.attributes.resize(out.tokens.size());
  PLUMB_TRY(out.read_kinds(metadata));
  PLUMB_TRY(out.read_roles(metadata, defaults));
  return out;
}

inline Result<void> Vocabulary::read_kinds(const MetadataReader& metadata) {
  PLUMB_ASSIGN(const std::span<const int32_t> kinds,
               metadata.array<int32_t>("tokenizer.ggml.token_type"));
  if (!kinds.empty() && kinds.size() != tokens.size()) {
    return Error{PLUMB_CORRUPT, "tokenizer.ggml.token_type: " + std::to_string(kinds.size()) +
                                    " elements for " + std::to_string(tokens.size()) + " tokens"};
  }
  // The GGUF specification, tokenizer.ggml.token_type: 1 normal, 2 unknown, 3 control, 4 user
  // defined, 5 unused, 6 byte.
  constexpr std::array<uint8_t, 7> kAttributes = {0,
                                                  0,
                                                  PLUMB_TOKEN_UNKNOWN,
                                                  PLUMB_TOKEN_CONTROL,
                                                  PLUMB_TOKEN_USER_DEFINED,
                                                  PLUMB_TOKEN_UNUSED,
                                                  PLUMB_TOKEN_BYTE};
  for (size_t id = 0; id < kinds.size(); ++id) {
    if (kinds[id] >= 0 && static_cast<size_t>(kinds[id]) < kAttributes.size()) {
      attributes[id] = kAttributes[kinds[id]];
    }
  }
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].bytes == 0) attributes[id] = PLUMB_TOKEN_UNUSED;
  }
  return {};
}

inline Result<void> Vocabulary::read_roles(const MetadataReader& metadata,
                                           const VocabularyDefaults& defaults) {
  const uint64_t n = tokens.size();
  const auto fallback = [&](int32_t id) { return contains(id) ? id : -1; };
  const auto id_of = [&](std::string_view role, int32_t otherwise) {
    return metadata.token_id("tokenizer.ggml." + std::string(role) + "_token_id",
                             fallback(otherwise), n);
  };
  info.n_vocab = static_cast<uint32_t>(n);
  PLUMB_ASSIGN(info.bos_id, id_of("bos", defaults.bos_id));
  PLUMB_ASSIGN(info.eos_id, id_of("eos", defaults.eos_id));
  PLUMB_ASSIGN(info.unknown_id, id_of("unknown", defaults.unknown_id));
  PLUMB_ASSIGN(info.padding_id, id_of("padding", -1));
  PLUMB_ASSIGN(const int32_t eot, id_of("eot", -1));
  PLUMB_ASSIGN(const int32_t eom, id_of("eom", -1));
  PLUMB_ASSIGN(const int32_t fim_padding, id_of("fim_pad", -1));
  PLUMB_ASSIGN(const int32_t fim_repository, id_of("fim_rep", -1));
  PLUMB_ASSIGN(const int32_t fim_separator, id_of("fim_sep", -1));
  PLUMB_ASSIGN(const bool add_bos, metadata.flag("tokenizer.ggml.add_bos_token", defaults.add_bos));
  PLUMB_ASSIGN(const bool add_eos, metadata.flag("tokenizer.ggml.add_eos_token", false));
  info.add_bos = add_bos && info.bos_id >= 0 ? 1 : 0;
  info.add_eos = add_eos && info.eos_id >= 0 ? 1 : 0;
  mark_ends({info.eos_id, eot, eom, fim_padding, fim_repository, fim_separator}, Ends::kAll);
  return {};
}

inline void Vocabulary::mark_ends(std::initializer_list<int32_t> named, Ends ends) {
  for (const int32_t id : named) {
    if (id >= 0) mark_end(id);
  }
  int32_t end_of_message = -1;
  bool has_return = false, has_call = false, has_flush = false;
  for (int32_t id = 0; id < static_cast<int32_t>(tokens.size()); ++id) {
    if (ends == Ends::kLiteralsOnly && !is(id, PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_USER_DEFINED))
      continue;
    const std::string_view literal = text(id);
    if (literal.size() < 4 || (literal[0] != '<' && literal[0] != '[' && literal[0] != '_'))
      continue;
    if (std::find(std::begin(kEndLiterals), std::end(kEndLiterals), literal) ==
        std::end(kEndLiterals))
      continue;
    // Gemma's </s> is the HTML tag, an added literal that is text. llama.cpp makes it an end; we
    // don't.
    if (literal == "</s>" && !is(id, PLUMB_TOKEN_CONTROL)) continue;
    mark_end(id);
    if (literal == "<|end|>") end_of_message = id;
    has_return |= literal == "<|return|>";
    has_call |= literal == "<|call|>" || literal == "<|calls|>";
    has_flush |= literal == "<|flush|>";
  }
  // The harmony format ends messages with <|end|> and turns with <|return|> or <|call|>; solar-open
  // likewise.
  if (end_of_message >= 0 && has_call && (has_return || has_flush) &&
      end_of_message != info.eos_id) {
    attributes[end_of_message] =
        ends == Ends::kAll ? PLUMB_TOKEN_USER_DEFINED : PLUMB_TOKEN_CONTROL;
  }
}

}  // namespace plumbline::tokenizer
