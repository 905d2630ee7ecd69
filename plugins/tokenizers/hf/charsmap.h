// charsmap.h: SentencePiece's compiled normalisation rules ("precompiled_charsmap").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/sdk/result.h"
#include "plumb/sdk/tokenizer/mapped_text.h"

namespace plumbline::tokenizers::hf {

/// A double-array trie from what is replaced to where its replacement lies among the texts behind
/// it. Format  u32 bytes of the trie; the trie, u32 units; the replacements, each ended by a zero
/// byte.
///         All little-endian. Source  SentencePiece, src/normalizer.cc; the units: Darts-clone.
class Charsmap {
 public:
  /// The bytes as they lie in a .model file.
  static Result<Charsmap> read(std::string_view bytes);
  /// As a tokenizer.json carries them.
  static Result<Charsmap> read_base64(std::string_view text);

  /// Replaces as the tokenizers library does: a grapheme of up to five bytes by the first rule that
  /// is a prefix of it, whatever follows; in all others each character.
  tokenizer::MappedView apply(const tokenizer::MappedView& view,
                              tokenizer::MappedText& storage) const;

  struct Rule {
    size_t n_bytes;  ///< of the text that it stands for
    std::string_view replacement;
  };
  /// The longest rule that the text begins with, as SentencePiece looks for it.
  std::optional<Rule> find_longest(std::string_view text) const;

 private:
  /// Calls on_rule(rule) for each rule that the text begins with, the shortest first, until it
  /// returns false.
  template <typename OnRule>
  void walk(std::string_view text, const OnRule& on_rule) const;
  /// The replacement of the shortest rule that the text begins with.
  std::optional<std::string_view> find(std::string_view text) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace plumbline::tokenizers::hf
