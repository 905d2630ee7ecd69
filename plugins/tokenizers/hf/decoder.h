// decoder.h: a tokenizer.json's way from tokens back to text ("decoder"), one token at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allowance.h"
#include "finder.h"
#include "plumb/sdk/result.h"

namespace plumbline::tokenizers::hf {

/// What a token reads as while the steps go over it.
struct Reading {
  std::string text;
  bool is_first;  ///< it opens the decoded text
  bool is_byte = false;  ///< a byte-fallback token
};

class DecodeStep {
 public:
  virtual ~DecodeStep() = default;
  virtual Result<void> apply(Reading& token, Allowance& allowance) const = 0;
  virtual bool minds_first() const { return false; }
  virtual bool is_byte_level() const { return false; }
};

using DecodeStepPtr = std::unique_ptr<const DecodeStep>;

/// The bytes that a token's characters stand for; a token that has others stays as it is.
DecodeStepPtr byte_level_decode_step();
/// <0x41> is the byte 0x41.
DecodeStepPtr byte_fallback_decode_step();
DecodeStepPtr replace_decode_step(Finder finder, std::string content);
/// Marks are spaces; in the first token, if has_prefix, they are nothing.
DecodeStepPtr metaspace_decode_step(char32_t mark, bool has_prefix);
/// Up to n_start of these characters at a token's start and n_end at its end are nothing.
DecodeStepPtr strip_decode_step(char32_t content, size_t n_start, size_t n_end);
/// One of these characters at the text's start is nothing.
DecodeStepPtr strip_first_decode_step(char32_t content);
/// A space before every token but the first and those with the prefix, which is nothing.
DecodeStepPtr word_piece_decode_step(std::string prefix, bool cleans_up);
/// A space before every token but the first.
DecodeStepPtr join_decode_step();

class Decoder {
 public:
  void add(DecodeStepPtr step) { steps_.push_back(std::move(step)); }
  bool minds_first() const;
  /// True if this is the byte alphabet read back and nothing else.
  bool is_byte_level() const { return steps_.size() == 1 && steps_[0]->is_byte_level(); }
  Result<void> apply(Reading& token, Allowance& allowance) const;

 private:
  std::vector<DecodeStepPtr> steps_;
};

/// The byte of "<0x0A>", or -1.
int32_t byte_of_fallback(std::string_view token);

}  // namespace plumbline::tokenizers::hf
