#include "gguf.h"

#include <utility>

#include "bytes_model.h"
#include "plumb/sdk/utf8.h"
#include "pre_tokenizer.h"

namespace plumbline::tokenizers::hf {
namespace {

using tokenizer::MetadataReader;
using tokenizer::Vocabulary;

Result<const PreTokenizer*> pre_tokenizer_of(const MetadataReader& metadata) {
  PLUMB_ASSIGN(const std::string_view name, metadata.text("tokenizer.ggml.pre", ""));
  if (const PreTokenizer* found = find_pre_tokenizer(name)) return found;
  return Error{PLUMB_UNSUPPORTED, "tokenizer.ggml.pre is \"" + std::string(name) +
                                      "\", a pre-tokenizer that is not known here"};
}

Result<std::vector<Bpe::MergeTexts>> merges_of(const MetadataReader& metadata) {
  PLUMB_ASSIGN(const std::span<const plumb_str> lines,
               metadata.array<plumb_str>("tokenizer.ggml.merges"));
  if (lines.data() == nullptr) return Error{PLUMB_CORRUPT, "tokenizer.ggml.merges: missing"};
  std::vector<Bpe::MergeTexts> merges;
  merges.reserve(lines.size());
  for (const plumb_str line : lines) {
    const std::string_view text = to_view(line);
    const size_t space = text.find(' ', 1);
    if (space == std::string_view::npos) {
      return Error{PLUMB_CORRUPT, "tokenizer.ggml.merges: merge " + std::to_string(merges.size()) +
                                      " is not two tokens with a space between"};
    }
    merges.push_back({text.substr(0, space), text.substr(space + 1)});
  }
  return merges;
}

constexpr uint32_t kLiteral = PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_UNKNOWN | PLUMB_TOKEN_USER_DEFINED;

/// A literal that is no UTF-8 is in no repaired text as such, only in the middle of a character.
std::vector<AddedToken> literals_of(const Vocabulary& vocabulary) {
  std::vector<AddedToken> literals;
  for (int32_t id = 0; id < static_cast<int32_t>(vocabulary.tokens.size()); ++id) {
    const std::string_view text = vocabulary.text(id);
    if (!vocabulary.is(id, kLiteral) || text.empty() || !utf8::is_well_formed(text)) continue;
    literals.push_back(
        {.id = id, .literal = std::string(text), .is_special = vocabulary.is_special(id)});
  }
  return literals;
}

}  // namespace

Result<void> recognise_gguf(const MetadataReader& metadata) {
  PLUMB_ASSIGN(const std::string_view model, metadata.text("tokenizer.ggml.model", ""));
  if (model != "gpt2") {
    return Error{PLUMB_UNSUPPORTED,
                 "neither tokenizer.huggingface.json nor tokenizer.ggml.model = "
                 "\"gpt2\" is there: tokenizer.ggml.model is \"" +
                     std::string(model) + "\""};
  }
  PLUMB_TRY(pre_tokenizer_of(metadata));
  return {};
}

Result<Parts> read_gguf(const MetadataReader& metadata) {
  PLUMB_TRY(recognise_gguf(metadata));
  PLUMB_ASSIGN(const PreTokenizer* pre_tokenizer, pre_tokenizer_of(metadata));
  Parts parts;
  PLUMB_ASSIGN(parts.vocabulary, Vocabulary::read(metadata, {.add_bos = pre_tokenizer->add_bos}));
  PLUMB_ASSIGN(const std::vector<Bpe::MergeTexts> merges, merges_of(metadata));
  std::vector<std::string_view> texts;
  texts.reserve(parts.vocabulary.tokens.size());
  for (const plumb_str token : parts.vocabulary.tokens) texts.push_back(to_view(token));

  PLUMB_ASSIGN(Bpe bpe, Bpe::create({.texts = texts,
                                     .attributes = parts.vocabulary.attributes,
                                     .merges = merges,
                                     .ignore_merges = pre_tokenizer->ignore_merges,
                                     .texts_key = "tokenizer.ggml.tokens",
                                     .merges_key = "tokenizer.ggml.merges"}));
  parts.model = std::make_unique<BytesModel>(std::move(bpe));
  if (pre_tokenizer->nfc) parts.normalizer.add(normal_form_step(NormalForm::kNfc));
  parts.splitter.add(pattern_step(&pre_tokenizer->pattern));
  parts.added = literals_of(parts.vocabulary);
  parts.decoder.add(byte_level_decode_step());
  return parts;
}

}  // namespace plumbline::tokenizers::hf
