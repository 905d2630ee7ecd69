// slm_tokenizer.h: bytes, joined by the merges that the section lists, if any.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "plumb/sdk/tokenizer/encoder.h"
#include "section.h"

namespace plumbline::tokenizers::slm {

/// Metadata key: the bytes of a BTOK or BPE1 section.
inline constexpr std::string_view kSectionKey = "tokenizer.slm";

/// Any byte is a token, so nothing is repaired, split or lost, and no text becomes a control token:
/// they have no literals.
class SlmTokenizer {
 public:
  using Scratch = tokenizer::Scratch;

  static Result<void> recognise(const tokenizer::MetadataReader& metadata);
  static Result<std::unique_ptr<SlmTokenizer>> create(const tokenizer::MetadataReader& metadata);

  const tokenizer::Vocabulary& vocabulary() const { return vocabulary_; }

  /// Merges the pair of the lowest rank, at equal rank the leftmost, until no pair is left.
  Result<void> encode(const plumb_encode_request& request, tokenizer::Scratch& scratch,
                      tokenizer::IdWriter& out) const;

  /// UNK is "?"; BOS, EOS, PAD and ids that the section does not declare are nothing.
  std::string_view piece(int32_t id, bool is_first) const;

 private:
  explicit SlmTokenizer(const Section& section);
  Result<void> add_merges(const Section& section);

  std::vector<plumb_str> pieces_;
  tokenizer::Vocabulary vocabulary_;
  std::map<std::pair<int32_t, int32_t>, tokenizer::Merge> merges_;
};

}  // namespace plumbline::tokenizers::slm
