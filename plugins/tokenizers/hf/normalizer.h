// normalizer.h: what a tokenizer.json does to a text before it is cut into words.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "allowance.h"
#include "charsmap.h"
#include "finder.h"
#include "normal_forms.h"
#include "plumb/sdk/result.h"
#include "plumb/sdk/tokenizer/mapped_text.h"

namespace plumbline::tokenizers::hf {

/// One step: the view itself if it changes nothing, else a view of storage.
class NormalizerStep {
 public:
  virtual ~NormalizerStep() = default;
  virtual Result<tokenizer::MappedView> apply(const tokenizer::MappedView& view,
                                              tokenizer::MappedText& storage,
                                              Allowance& allowance) const = 0;
};

using NormalizerStepPtr = std::unique_ptr<const NormalizerStep>;

NormalizerStepPtr normal_form_step(NormalForm form);
NormalizerStepPtr lowercase_step();
NormalizerStepPtr strip_accents_step();
/// Cleans as SentencePiece's Nmt rules do: control characters out, odd white space to spaces.
NormalizerStepPtr nmt_step();
/// Every byte as its character of the byte alphabet.
NormalizerStepPtr byte_alphabet_step();
NormalizerStepPtr strip_step(bool left, bool right);
NormalizerStepPtr prepend_step(std::string text);
NormalizerStepPtr replace_step(Finder finder, std::string content);
NormalizerStepPtr charsmap_step(Charsmap charsmap);

/// BERT's: without control characters and U+FFFD, all white space as spaces.
NormalizerStepPtr bert_clean_step();
/// Spaces around every Chinese character.
NormalizerStepPtr bert_chinese_step();
/// Without nonspacing marks; NFD comes before it.
NormalizerStepPtr bert_strip_marks_step();

/// Steps one after the other.
class Normalizer {
 public:
  using Storage = std::array<tokenizer::MappedText, 2>;

  void add(NormalizerStepPtr step) { steps_.push_back(std::move(step)); }
  bool is_empty() const { return steps_.empty(); }
  Result<tokenizer::MappedView> apply(tokenizer::MappedView view, Storage& storage,
                                      Allowance& allowance) const;

 private:
  std::vector<NormalizerStepPtr> steps_;
};

/// Appends a text in the byte alphabet.
void append_in_byte_alphabet(const tokenizer::MappedView& view, tokenizer::MappedText& storage);

}  // namespace plumbline::tokenizers::hf
