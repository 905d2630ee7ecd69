#include "sentencepiece_normalizer.h"

#include <memory>
#include <utility>

#include "byte_trie.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizers::hf {
namespace {

using tokenizer::MappedText;
using tokenizer::MappedView;

constexpr std::string_view kSpaceMark = "\u2581";

class SentencePieceStep : public NormalizerStep {
 public:
  explicit SentencePieceStep(SentencePieceRules rules) : rules_(std::move(rules)) {
    for (const std::string_view literal : rules_.kept) kept_.add(literal, 0);
    rules_.kept = {};
  }

  Result<MappedView> apply(const MappedView& view, MappedText& storage, Allowance&) const override {
    const std::string_view text = view.text();
    size_t at = 0;
    if (rules_.remove_extra_whitespaces) {
      while (at < text.size()) {
        const Unit unit = unit_at(text, at);
        if (unit.reads != " ") break;
        at += unit.n_bytes;
      }
    }
    if (at == text.size()) return view.part(at, at);

    storage.clear();
    if (rules_.add_dummy_prefix) {
      const uint64_t begin = view.source(at, at + 1).begin;
      storage.append(space(), {begin, begin});  // it has no source of its own
    }
    bool is_behind_space = rules_.remove_extra_whitespaces;
    while (at < text.size()) {
      Unit unit = unit_at(text, at);
      const plumb_span source = view.source(at, at + unit.n_bytes);
      at += unit.n_bytes;
      while (is_behind_space && unit.reads.starts_with(' ')) unit.reads.remove_prefix(1);
      if (unit.reads.empty()) continue;
      append(unit.reads, source, storage);
      is_behind_space = rules_.remove_extra_whitespaces && unit.reads.ends_with(' ');
    }
    return without_last_spaces(storage.view());
  }

 private:
  /// The next bytes of a text that are read as one, and what they become.
  struct Unit {
    std::string_view reads;
    size_t n_bytes;
  };

  Unit unit_at(std::string_view text, size_t at) const {
    const std::string_view rest = text.substr(at);
    if (const size_t n_bytes = kept_at(rest); n_bytes > 0)
      return {rest.substr(0, n_bytes), n_bytes};
    if (rules_.charsmap) {
      if (const auto rule = rules_.charsmap->find_longest(rest))
        return {rule->replacement, rule->n_bytes};
    }
    const size_t n_bytes = utf8::decode(text, at).n_bytes;
    return {rest.substr(0, n_bytes), n_bytes};
  }

  /// How long the longest literal is that the text begins with, or 0.
  size_t kept_at(std::string_view text) const {
    size_t longest = 0;
    uint32_t node = ByteTrie::kRoot;
    for (size_t i = 0; i < text.size(); ++i) {
      node = kept_.step(node, text[i]);
      if (node == ByteTrie::kNone) break;
      if (kept_.id(node) >= 0) longest = i + 1;
    }
    return longest;
  }

  std::string_view space() const { return rules_.escape_whitespaces ? kSpaceMark : " "; }

  void append(std::string_view reads, plumb_span source, MappedText& storage) const {
    for (size_t blank; (blank = reads.find(' ')) != std::string_view::npos;) {
      storage.append(reads.substr(0, blank), source);
      storage.append(space(), source);
      reads.remove_prefix(blank + 1);
    }
    storage.append(reads, source);
  }

  MappedView without_last_spaces(const MappedView& view) const {
    std::string_view text = view.text();
    if (rules_.remove_extra_whitespaces) {
      while (text.ends_with(space())) text.remove_suffix(space().size());
    }
    return view.part(0, text.size());
  }

  SentencePieceRules rules_;
  ByteTrie kept_;
};

}  // namespace

NormalizerStepPtr sentencepiece_step(SentencePieceRules rules) {
  return std::make_unique<SentencePieceStep>(std::move(rules));
}

}  // namespace plumbline::tokenizers::hf
