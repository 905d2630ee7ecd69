#include "bpe_tokenizer.h"

#include <functional>
#include <utility>

#include "byte_alphabet.h"
#include "nfc.h"

namespace plumbline::tokenizers::hf {
namespace {

using tokenizer::MappedView;
using tokenizer::MetadataReader;
using tokenizer::Scratch;
using tokenizer::Vocabulary;

std::vector<std::string_view> texts_of(const Vocabulary& vocabulary) {
  std::vector<std::string_view> texts;
  texts.reserve(vocabulary.tokens.size());
  for (const plumb_str token : vocabulary.tokens) texts.push_back(to_view(token));
  return texts;
}

constexpr const char* kMerges = "tokenizer.ggml.merges";

Result<std::vector<Bpe::MergeTexts>> split_merges(std::span<const plumb_str> merges) {
  std::vector<Bpe::MergeTexts> out;
  out.reserve(merges.size());
  for (const plumb_str merge : merges) {
    const std::string_view text = to_view(merge);
    const size_t space = text.find(' ', 1);
    if (space == std::string_view::npos) {
      return Error{PLUMB_CORRUPT, std::string(kMerges) + ": merge " + std::to_string(out.size()) +
                                      " is not two tokens with a space between"};
    }
    out.push_back({text.substr(0, space), text.substr(space + 1)});
  }
  return out;
}

Result<const PreTokenizer*> pre_tokenizer_of(const MetadataReader& metadata) {
  PLUMB_ASSIGN(const std::string_view name, metadata.text("tokenizer.ggml.pre", ""));
  if (const PreTokenizer* found = find_pre_tokenizer(name)) return found;
  return Error{PLUMB_UNSUPPORTED, "tokenizer.ggml.pre is \"" + std::string(name) +
                                      "\", a pre-tokenizer that is not known here"};
}

}  // namespace

Result<void> BpeTokenizer::recognise(const MetadataReader& metadata) {
  PLUMB_ASSIGN(const std::string_view model, metadata.text("tokenizer.ggml.model", ""));
  if (model != "gpt2") {
    return Error{PLUMB_UNSUPPORTED,
                 "tokenizer.ggml.model is \"" + std::string(model) + "\", \"gpt2\" expected"};
  }
  PLUMB_TRY(pre_tokenizer_of(metadata));
  return {};
}

Result<std::unique_ptr<BpeTokenizer>> BpeTokenizer::create(const MetadataReader& metadata) {
  PLUMB_TRY(recognise(metadata));
  PLUMB_ASSIGN(const PreTokenizer* pre_tokenizer, pre_tokenizer_of(metadata));
  PLUMB_ASSIGN(Vocabulary vocabulary,
               Vocabulary::read(metadata, {.add_bos = pre_tokenizer->add_bos}));
  PLUMB_ASSIGN(const std::span<const plumb_str> merges, metadata.array<plumb_str>(kMerges));
  if (merges.data() == nullptr) return Error{PLUMB_CORRUPT, std::string(kMerges) + ": missing"};

  PLUMB_ASSIGN(const std::vector<Bpe::MergeTexts> merge_texts, split_merges(merges));
  const std::vector<std::string_view> texts = texts_of(vocabulary);
  PLUMB_ASSIGN(Bpe bpe, Bpe::create({.texts = texts,
                                     .attributes = vocabulary.attributes,
                                     .merges = merge_texts,
                                     .ignore_merges = pre_tokenizer->ignore_merges,
                                     .texts_key = "tokenizer.ggml.tokens",
                                     .merges_key = kMerges}));
  std::unique_ptr<BpeTokenizer> made(
      new BpeTokenizer(std::move(vocabulary), *pre_tokenizer, std::move(bpe)));
  PLUMB_TRY(tokenizer::add_literals(made->vocabulary_, std::identity(), made->literals_));
  return made;
}

void BpeTokenizer::encode(const plumb_encode_request& request, Scratch& scratch,
                          tokenizer::IdWriter& out) const {
  tokenizer::cut_at_literals(
      vocabulary_, literals_, tokenizer::repair(to_view(request.text), scratch.repaired), request,
      scratch.matches, [&](int32_t id, plumb_span span) { out.put(id, span); },
      [&](const MappedView& part) {
        const MappedView view = pre_tokenizer_.nfc ? to_nfc(part, scratch.rewritten) : part;
        bpe_.encode(pre_tokenizer_.pattern, view, scratch.words, out);
      });
}

}  // namespace plumbline::tokenizers::hf
