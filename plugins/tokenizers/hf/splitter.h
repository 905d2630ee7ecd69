// splitter.h: how a tokenizer.json cuts a normalised text into words ("pre_tokenizer").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "finder.h"
#include "plumb/sdk/result.h"
#include "plumb/sdk/tokenizer/mapped_text.h"
#include "pre_tokenizer.h"

namespace plumbline::tokenizers::hf {

/// What becomes of the stretches that a pattern matches.
enum class Behaviour : uint8_t {
  kIsolated,  ///< each is a word
  kRemoved,  ///< they are no words
  kMergedWithPrevious,  ///< each goes with what stands before it
  kMergedWithNext,
  kContiguous,  ///< neighbouring matches are one word
};

enum class PrependScheme : uint8_t { kFirst, kNever, kAlways };

/// A kind of character that words are cut at.
using CharacterTest = bool (*)(char32_t c);

/// One step: cuts every word of `in`, which is not empty, into words of `out`. A step that rewrites
/// words writes them into storage.
class SplitStep {
 public:
  virtual ~SplitStep() = default;
  virtual Result<void> run(const std::vector<tokenizer::MappedView>& in,
                           std::vector<tokenizer::MappedView>& out, tokenizer::MappedText& storage,
                           Allowance& allowance) const = 0;
  /// The splitter that does the same, or null.
  virtual const Pattern* pattern() const { return nullptr; }
};

using SplitStepPtr = std::unique_ptr<const SplitStep>;

SplitStepPtr pattern_step(const Pattern* pattern);
SplitStepPtr finder_step(Finder finder, Behaviour behaviour, bool is_inverted);
SplitStepPtr character_step(CharacterTest test, Behaviour behaviour);
SplitStepPtr delimiter_step(char32_t delimiter);
/// \w+|[^\w\s]+
SplitStepPtr word_step();
/// Where the script changes. What stands before the first character that has one is no word.
SplitStepPtr script_step();
SplitStepPtr fixed_length_step(size_t n_characters);
SplitStepPtr metaspace_step(char32_t replacement, PrependScheme scheme, bool splits);
/// A space before every word that has none.
SplitStepPtr prefix_space_step();
/// Every byte as its character of the byte alphabet.
SplitStepPtr byte_alphabet_split_step();

/// Working memory of one cut, kept for the next.
struct SplitScratch {
  std::vector<tokenizer::MappedView> words;
  std::vector<tokenizer::MappedView> before;
  std::vector<tokenizer::MappedText> storages;  // one a step: words point into all of them
};

/// Steps one after the other.
class Splitter {
 public:
  void add(SplitStepPtr step) { steps_.push_back(std::move(step)); }
  bool is_empty() const { return steps_.empty(); }
  /// If this is one hand-written splitter and nothing else: that, else null.
  const Pattern* pattern() const { return steps_.size() == 1 ? steps_[0]->pattern() : nullptr; }

  /// Leaves the words of a text that is not empty in scratch.words.
  Result<void> cut(const tokenizer::MappedView& text, SplitScratch& scratch,
                   Allowance& allowance) const;

 private:
  std::vector<SplitStepPtr> steps_;
};

}  // namespace plumbline::tokenizers::hf
