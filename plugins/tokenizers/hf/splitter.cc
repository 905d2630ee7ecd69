#include "splitter.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "normalizer.h"
#include "plumb/sdk/utf8.h"
#include "unicode.h"

namespace plumbline::tokenizers::hf {
namespace {

using tokenizer::MappedText;
using tokenizer::MappedView;
using Views = std::vector<MappedView>;

void put(const MappedView& word, size_t begin, size_t end, Views& out) {
  if (begin < end) out.push_back(word.part(begin, end));
}

/// Joins stretches as a behaviour says; is_match says afterwards what is no word.
/// Source  tokenizers, tokenizer/normalizer.rs, NormalizedString::split.
void join(Behaviour behaviour, std::vector<Stretch>& stretches) {
  if (behaviour == Behaviour::kRemoved) return;
  if (behaviour == Behaviour::kMergedWithNext) std::reverse(stretches.begin(), stretches.end());
  size_t n = 0;
  bool before = false;
  for (const Stretch one : stretches) {
    const bool joins = behaviour == Behaviour::kContiguous ? one.is_match == before
                       : behaviour == Behaviour::kIsolated ? false
                                                           : one.is_match && !before;
    before = one.is_match;
    if (joins && n > 0) {
      stretches[n - 1].begin = std::min(stretches[n - 1].begin, one.begin);
      stretches[n - 1].end = std::max(stretches[n - 1].end, one.end);
    } else {
      stretches[n++] = {one.begin, one.end, false};
    }
  }
  stretches.resize(n);
  if (behaviour == Behaviour::kMergedWithNext) std::reverse(stretches.begin(), stretches.end());
}

/// A step that cuts each word into stretches.
class StretchStep : public SplitStep {
 public:
  explicit StretchStep(Behaviour behaviour) : behaviour_(behaviour) {}

  Result<void> run(const Views& in, Views& out, MappedText&, Allowance& allowance) const override {
    std::vector<Stretch> stretches;
    for (const MappedView& word : in) {
      PLUMB_TRY(stretch(word.text(), stretches, allowance));
      join(behaviour_, stretches);
      for (const Stretch& one : stretches) {
        if (!one.is_match) put(word, one.begin, one.end, out);
      }
    }
    return {};
  }

 private:
  virtual Result<void> stretch(std::string_view word, std::vector<Stretch>& out,
                               Allowance& allowance) const = 0;

  Behaviour behaviour_;
};

class FinderStep : public StretchStep {
 public:
  FinderStep(Finder finder, Behaviour behaviour, bool is_inverted)
      : StretchStep(behaviour), finder_(std::move(finder)), is_inverted_(is_inverted) {}

 private:
  Result<void> stretch(std::string_view word, std::vector<Stretch>& out,
                       Allowance& allowance) const override {
    PLUMB_TRY(finder_.cut(word, out, allowance));
    if (is_inverted_) {
      for (Stretch& one : out) one.is_match = !one.is_match;
    }
    return {};
  }

  Finder finder_;
  bool is_inverted_;
};

/// Each character that satisfies the test is a match of its own.
template <typename Test>
class CharacterStep : public StretchStep {
 public:
  CharacterStep(Test test, Behaviour behaviour) : StretchStep(behaviour), test_(test) {}

 private:
  Result<void> stretch(std::string_view word, std::vector<Stretch>& out,
                       Allowance&) const override {
    out.clear();
    size_t kept = 0;
    for (size_t at = 0; at < word.size();) {
      const utf8::Decoded next = utf8::decode(word, at);
      const size_t end = at + next.n_bytes;
      if (test_(next.code_point)) {
        if (kept < at) out.push_back({kept, at, false});
        out.push_back({at, end, true});
        kept = end;
      }
      at = end;
    }
    if (kept < word.size()) out.push_back({kept, word.size(), false});
    return {};
  }

  Test test_;
};

class PatternStep : public SplitStep {
 public:
  explicit PatternStep(const Pattern* pattern) : pattern_(pattern) {}
  Result<void> run(const Views& in, Views& out, MappedText&, Allowance&) const override {
    for (const MappedView& word : in) {
      WordCursor cursor(*pattern_, word.text());
      for (size_t begin = 0, end = 0; cursor.next(&begin, &end);) put(word, begin, end, out);
    }
    return {};
  }
  const Pattern* pattern() const override { return pattern_; }

 private:
  const Pattern* pattern_;
};

class WordStep : public SplitStep {
 public:
  Result<void> run(const Views& in, Views& out, MappedText&, Allowance&) const override {
    for (const MappedView& word : in) {
      size_t begin = 0;
      int kind = kSpace;
      for (size_t at = 0; at < word.text().size();) {
        const utf8::Decoded next = utf8::decode(word.text(), at);
        if (const int here = kind_of(next.code_point); here != kind) {
          if (kind != kSpace) put(word, begin, at, out);
          begin = at;
          kind = here;
        }
        at += next.n_bytes;
      }
      if (kind != kSpace) put(word, begin, word.text().size(), out);
    }
    return {};
  }

 private:
  static constexpr int kSpace = 0, kWord = 1, kSign = 2;
  static int kind_of(char32_t c) { return is_word(c) ? kWord : is_white_space(c) ? kSpace : kSign; }
};

/// Source  tokenizers, pre_tokenizers/unicode_scripts/pre_tokenizer.rs.
class ScriptStep : public SplitStep {
 public:
  Result<void> run(const Views& in, Views& out, MappedText&, Allowance&) const override {
    for (const MappedView& word : in) {
      const std::string_view text = word.text();
      size_t begin = text.size();
      int last = kAny;
      for (size_t at = 0; at < text.size();) {
        const utf8::Decoded next = utf8::decode(text, at);
        if (const int script = script_of(next.code_point); script != kAny && script != last) {
          if (last != kAny) put(word, begin, at, out);
          begin = at;
          last = script;
        }
        at += next.n_bytes;
      }
      put(word, begin, text.size(), out);
    }
    return {};
  }

 private:
  static constexpr int kAny = -1;
};

class FixedLengthStep : public SplitStep {
 public:
  explicit FixedLengthStep(size_t n_characters) : n_characters_(n_characters) {}
  Result<void> run(const Views& in, Views& out, MappedText&, Allowance&) const override {
    for (const MappedView& word : in) {
      size_t begin = 0;
      size_t n = 0;
      for (size_t at = 0; at < word.text().size();) {
        at += utf8::decode(word.text(), at).n_bytes;
        if (++n < n_characters_) continue;
        put(word, begin, at, out);
        begin = at;
        n = 0;
      }
      put(word, begin, word.text().size(), out);
    }
    return {};
  }

 private:
  size_t n_characters_;
};

/// A step that writes every word anew, into one storage.
class RewritingStep : public SplitStep {
 public:
  Result<void> run(const Views& in, Views& out, MappedText& storage, Allowance&) const override {
    storage.clear();
    std::vector<size_t> ends;
    for (const MappedView& word : in) {
      write(word, storage);
      ends.push_back(storage.view().text().size());
    }
    size_t begin = 0;
    for (const size_t end : ends) {
      split(storage.view().part(begin, end), out);
      begin = end;
    }
    return {};
  }

 protected:
  static void write_unsourced(std::string_view text, const MappedView& before,
                              MappedText& storage) {
    const uint64_t begin = before.source(0, 1).begin;
    storage.append(text, {begin, begin});
  }

 private:
  virtual void write(const MappedView& word, MappedText& storage) const = 0;
  virtual void split(const MappedView& word, Views& out) const { out.push_back(word); }
};

class PrefixSpaceStep : public RewritingStep {
  void write(const MappedView& word, MappedText& storage) const override {
    if (word.text()[0] != ' ') write_unsourced(" ", word, storage);
    storage.append(word);
  }
};

class ByteAlphabetSplitStep : public RewritingStep {
  void write(const MappedView& word, MappedText& storage) const override {
    append_in_byte_alphabet(word, storage);
  }
};

class MetaspaceStep : public RewritingStep {
 public:
  MetaspaceStep(char32_t replacement, PrependScheme scheme, bool splits)
      : scheme_(scheme), splits_(splits) {
    utf8::append(mark_, replacement);
  }

 private:
  void write(const MappedView& word, MappedText& storage) const override {
    const std::string_view text = word.text();
    const bool has_mark = text[0] == ' ' || text.starts_with(mark_);
    const bool is_first = word.source(0, 1).begin == 0;
    if (!has_mark &&
        (scheme_ == PrependScheme::kAlways || (scheme_ == PrependScheme::kFirst && is_first))) {
      write_unsourced(mark_, word, storage);
    }
    size_t kept = 0;
    for (size_t at; (at = text.find(' ', kept)) != std::string_view::npos; kept = at + 1) {
      storage.append(word.part(kept, at));
      storage.append(mark_, word.source(at, at + 1));
    }
    storage.append(word.part(kept, text.size()));
  }

  /// Each mark begins a word.
  void split(const MappedView& word, Views& out) const override {
    if (!splits_) return out.push_back(word);
    const std::string_view text = word.text();
    size_t begin = 0;
    for (size_t at = 0; (at = text.find(mark_, at)) != std::string_view::npos; at += mark_.size()) {
      put(word, begin, at, out);
      begin = at;
    }
    put(word, begin, text.size(), out);
  }

  std::string mark_;
  PrependScheme scheme_;
  bool splits_;
};

}  // namespace

SplitStepPtr pattern_step(const Pattern* pattern) {
  return std::make_unique<PatternStep>(pattern);
}

SplitStepPtr finder_step(Finder finder, Behaviour behaviour, bool is_inverted) {
  return std::make_unique<FinderStep>(std::move(finder), behaviour, is_inverted);
}

SplitStepPtr character_step(CharacterTest test, Behaviour behaviour) {
  return std::make_unique<CharacterStep<CharacterTest>>(test, behaviour);
}

SplitStepPtr delimiter_step(char32_t delimiter) {
  const auto is_delimiter = [delimiter](char32_t c) { return c == delimiter; };
  return std::make_unique<CharacterStep<decltype(is_delimiter)>>(is_delimiter, Behaviour::kRemoved);
}

SplitStepPtr word_step() {
  return std::make_unique<WordStep>();
}

SplitStepPtr script_step() {
  return std::make_unique<ScriptStep>();
}

SplitStepPtr fixed_length_step(size_t n_characters) {
  return std::make_unique<FixedLengthStep>(n_characters);
}

SplitStepPtr metaspace_step(char32_t replacement, PrependScheme scheme, bool splits) {
  return std::make_unique<MetaspaceStep>(replacement, scheme, splits);
}

SplitStepPtr prefix_space_step() {
  return std::make_unique<PrefixSpaceStep>();
}

SplitStepPtr byte_alphabet_split_step() {
  return std::make_unique<ByteAlphabetSplitStep>();
}

Result<void> Splitter::cut(const MappedView& text, SplitScratch& scratch,
                           Allowance& allowance) const {
  scratch.words.assign(1, text);
  if (scratch.storages.size() < steps_.size()) scratch.storages.resize(steps_.size());
  size_t n_bytes = text.text().size();  // of all words, at most
  for (size_t i = 0; i < steps_.size(); ++i) {
    scratch.before.swap(scratch.words);
    scratch.words.clear();
    MappedText& storage = scratch.storages[i];
    storage.limit(allowance.most_bytes(n_bytes));
    PLUMB_TRY(steps_[i]->run(scratch.before, scratch.words, storage, allowance));
    PLUMB_TRY(allowance.take_growth(n_bytes, storage));
    n_bytes = std::max(n_bytes, storage.view().text().size());
  }
  return {};
}

}  // namespace plumbline::tokenizers::hf
