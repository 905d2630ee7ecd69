#include "normalizer.h"

#include <functional>
#include <string_view>
#include <utility>

#include "byte_alphabet.h"
#include "plumb/sdk/utf8.h"
#include "unicode.h"

namespace plumbline::tokenizers::hf {
namespace {

using tokenizer::MappedText;
using tokenizer::MappedView;

/// Rewrites character by character. change(c, out): false if c stays, else what stands for it is in
/// out.
template <typename Change>
MappedView rewrite(const MappedView& view, MappedText& storage, const Change& change) {
  const std::string_view text = view.text();
  std::string better;
  size_t n_kept = 0;
  bool changed = false;
  for (size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    const size_t end = at + next.n_bytes;
    better.clear();
    if (change(next.code_point, better)) {
      if (!changed) storage.clear();
      changed = true;
      storage.append(view.part(n_kept, at));
      storage.append(better, view.source(at, end));
      n_kept = end;
    }
    at = end;
  }
  if (!changed) return view;
  storage.append(view.part(n_kept, text.size()));
  return storage.view();
}

/// A step that looks at one character at a time.
template <typename Change>
class CharacterStep : public NormalizerStep {
 public:
  explicit CharacterStep(Change change) : change_(change) {}
  Result<MappedView> apply(const MappedView& view, MappedText& storage, Allowance&) const override {
    return rewrite(view, storage, change_);
  }

 private:
  Change change_;
};

template <typename Change>
NormalizerStepPtr character_step(Change change) {
  return std::make_unique<CharacterStep<Change>>(change);
}

bool is_in(const MappedView& view, const MappedText& storage) {
  const std::string_view all = storage.view().text();
  const std::less_equal<> no_later;
  return no_later(all.data(), view.text().data()) &&
         no_later(view.text().data(), all.data() + all.size());
}

bool to_space(std::string& out) {
  out.push_back(' ');
  return true;
}

/// Source  tokenizers, normalizers/unicode.rs, do_nmt.
bool is_nmt_control(char32_t c) {
  return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
         c == 0x8F || c == 0x9F;
}
bool is_nmt_space(char32_t c) {
  return c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
         (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF ||
         c == 0xFFFD;
}

/// Source  BERT, tokenization.py, _is_chinese_char; tokenizers' has 2B920 where BERT has 2B820.
bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

class NormalFormStep : public NormalizerStep {
 public:
  explicit NormalFormStep(NormalForm form) : form_(form) {}
  Result<MappedView> apply(const MappedView& view, MappedText& storage, Allowance&) const override {
    return to_normal_form(form_, view, storage);
  }

 private:
  NormalForm form_;
};

class ByteAlphabetStep : public NormalizerStep {
 public:
  Result<MappedView> apply(const MappedView& view, MappedText& storage, Allowance&) const override {
    storage.clear();
    append_in_byte_alphabet(view, storage);
    return storage.view();
  }
};

class StripStep : public NormalizerStep {
 public:
  StripStep(bool left, bool right) : left_(left), right_(right) {}
  Result<MappedView> apply(const MappedView& view, MappedText&, Allowance&) const override {
    const std::string_view text = view.text();
    size_t begin = 0;
    size_t end = text.size();
    while (left_ && begin < end) {
      const utf8::Decoded next = utf8::decode(text, begin);
      if (!is_white_space(next.code_point)) break;
      begin += next.n_bytes;
    }
    while (right_ && end > begin) {
      size_t last = end - 1;
      while (last > begin && utf8::is_continuation(text[last])) --last;
      if (!is_white_space(utf8::decode(text, last).code_point)) break;
      end = last;
    }
    return view.part(begin, end);
  }

 private:
  bool left_;
  bool right_;
};

class PrependStep : public NormalizerStep {
 public:
  explicit PrependStep(std::string text) : text_(std::move(text)) {}
  Result<MappedView> apply(const MappedView& view, MappedText& storage, Allowance&) const override {
    if (view.text().empty()) return view;
    const uint64_t begin = view.source(0, 1).begin;
    storage.clear();
    storage.append(text_, {begin, begin});  // it has no source of its own
    storage.append(view);
    return storage.view();
  }

 private:
  std::string text_;
};

class ReplaceStep : public NormalizerStep {
 public:
  ReplaceStep(Finder finder, std::string content)
      : finder_(std::move(finder)), content_(std::move(content)) {}

  Result<MappedView> apply(const MappedView& view, MappedText& storage,
                           Allowance& allowance) const override {
    if (view.text().empty()) return view;
    std::vector<Stretch> stretches;
    PLUMB_TRY(finder_.cut(view.text(), stretches, allowance));
    if (stretches.size() == 1 && !stretches[0].is_match) return view;
    storage.clear();
    for (const Stretch& one : stretches) {
      if (one.is_match) {
        storage.append(content_, source_of(view, one));
      } else {
        storage.append(view.part(one.begin, one.end));
      }
    }
    return storage.view();
  }

 private:
  static plumb_span source_of(const MappedView& view, const Stretch& one) {
    if (one.begin < one.end) return view.source(one.begin, one.end);
    const uint64_t at =
        one.begin > 0 ? view.source(one.begin - 1, one.begin).end : view.source(0, 1).begin;
    return {at, at};
  }

  Finder finder_;
  std::string content_;
};

class CharsmapStep : public NormalizerStep {
 public:
  explicit CharsmapStep(Charsmap charsmap) : charsmap_(std::move(charsmap)) {}
  Result<MappedView> apply(const MappedView& view, MappedText& storage, Allowance&) const override {
    return charsmap_.apply(view, storage);
  }

 private:
  Charsmap charsmap_;
};

}  // namespace

NormalizerStepPtr normal_form_step(NormalForm form) {
  return std::make_unique<NormalFormStep>(form);
}

NormalizerStepPtr lowercase_step() {
  return character_step([](char32_t c, std::string& out) {
    if (c < 0x80) {
      if (c < 'A' || c > 'Z') return false;
      out.push_back(static_cast<char>(c - 'A' + 'a'));
      return true;
    }
    append_lower(c, out);
    return utf8::decode(out, 0).code_point != c;
  });
}

NormalizerStepPtr strip_accents_step() {
  return character_step([](char32_t c, std::string&) { return is_mark(c); });
}

NormalizerStepPtr nmt_step() {
  return character_step([](char32_t c, std::string& out) {
    return is_nmt_control(c) || (is_nmt_space(c) && to_space(out));
  });
}

NormalizerStepPtr bert_clean_step() {
  return character_step([](char32_t c, std::string& out) {
    if (c == ' ') return false;
    if (c == '\t' || c == '\n' || c == '\r') return to_space(out);
    if (c == 0 || c == utf8::kReplacement || is_other(c)) return true;
    return is_white_space(c) && to_space(out);
  });
}

NormalizerStepPtr bert_chinese_step() {
  return character_step([](char32_t c, std::string& out) {
    if (!is_chinese(c)) return false;
    out.push_back(' ');
    utf8::append(out, c);
    out.push_back(' ');
    return true;
  });
}

NormalizerStepPtr bert_strip_marks_step() {
  return character_step([](char32_t c, std::string&) { return is_nonspacing_mark(c); });
}

NormalizerStepPtr byte_alphabet_step() {
  return std::make_unique<ByteAlphabetStep>();
}

NormalizerStepPtr strip_step(bool left, bool right) {
  return std::make_unique<StripStep>(left, right);
}

NormalizerStepPtr prepend_step(std::string text) {
  return std::make_unique<PrependStep>(std::move(text));
}

NormalizerStepPtr replace_step(Finder finder, std::string content) {
  return std::make_unique<ReplaceStep>(std::move(finder), std::move(content));
}

NormalizerStepPtr charsmap_step(Charsmap charsmap) {
  return std::make_unique<CharsmapStep>(std::move(charsmap));
}

Result<MappedView> Normalizer::apply(MappedView view, Storage& storage,
                                     Allowance& allowance) const {
  size_t spare = 0;  // the storage that the view does not lie in
  for (const NormalizerStepPtr& step : steps_) {
    const size_t n_bytes = view.text().size();
    storage[spare].limit(allowance.most_bytes(n_bytes));
    PLUMB_ASSIGN(const MappedView next, step->apply(view, storage[spare], allowance));
    PLUMB_TRY(allowance.take_growth(n_bytes, storage[spare]));
    view = next;
    if (is_in(view, storage[spare])) spare = 1 - spare;
  }
  return view;
}

void append_in_byte_alphabet(const MappedView& view, MappedText& storage) {
  for (size_t i = 0; i < view.text().size(); ++i)
    storage.append(character_of(static_cast<uint8_t>(view.text()[i])), view.source(i, i + 1));
}

}  // namespace plumbline::tokenizers::hf
