#include "slm_tokenizer.h"

#include <array>
#include <string>

namespace plumbline::tokenizers::slm {
namespace {

using tokenizer::Merge;
using tokenizer::MetadataReader;
using tokenizer::Symbol;

constexpr std::array<char, 256> kEveryByte = [] {
  std::array<char, 256> bytes{};
  for (int byte = 0; byte < 256; ++byte) bytes[byte] = static_cast<char>(byte);
  return bytes;
}();

}  // namespace

Result<void> SlmTokenizer::recognise(const MetadataReader& metadata) {
  PLUMB_ASSIGN(const std::string_view bytes, metadata.text(kSectionKey, ""));
  if (has_magic(bytes)) return {};
  return Error{PLUMB_UNSUPPORTED,
               std::string(kSectionKey) + " is no BTOK and no BPE1 section, one of them expected"};
}

Result<std::unique_ptr<SlmTokenizer>> SlmTokenizer::create(const MetadataReader& metadata) {
  PLUMB_TRY(recognise(metadata));
  PLUMB_ASSIGN(const std::string_view bytes, metadata.text(kSectionKey, ""));
  PLUMB_ASSIGN(const Section section, read_section(bytes));
  std::unique_ptr<SlmTokenizer> made(new SlmTokenizer(section));
  PLUMB_TRY(made->add_merges(section));
  return made;
}

SlmTokenizer::SlmTokenizer(const Section& section) : pieces_(section.n_vocab) {
  vocabulary_.attributes.assign(section.n_vocab, PLUMB_TOKEN_UNUSED);
  for (size_t byte = 0; byte < kEveryByte.size(); ++byte) {
    pieces_[byte] = {&kEveryByte[byte], 1};
    vocabulary_.attributes[byte] = 0;
  }
  for (const Token& token : section.tokens) {
    pieces_[token.id] = to_abi(token.bytes);
    vocabulary_.attributes[token.id] = 0;
  }
  pieces_[section.unknown] = to_abi("?");
  vocabulary_.attributes[section.unknown] = PLUMB_TOKEN_UNKNOWN;
  vocabulary_.attributes[section.bos] = PLUMB_TOKEN_CONTROL;
  vocabulary_.attributes[section.padding] = PLUMB_TOKEN_CONTROL;
  vocabulary_.attributes[section.eos] = PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_END;
  vocabulary_.tokens = pieces_;
  vocabulary_.info.n_vocab = section.n_vocab;
  vocabulary_.info.bos_id = static_cast<int32_t>(section.bos);
  vocabulary_.info.eos_id = static_cast<int32_t>(section.eos);
  vocabulary_.info.padding_id = static_cast<int32_t>(section.padding);
  vocabulary_.info.unknown_id = static_cast<int32_t>(section.unknown);
  vocabulary_.info.add_bos = 1;
  vocabulary_.info.add_eos = 1;
}

Result<void> SlmTokenizer::add_merges(const Section& section) {
  std::string joined;
  for (size_t i = 0; i < section.merges.size(); ++i) {
    const MergeRule& rule = section.merges[i];
    const auto broken = [&](const std::string& how) {
      return Error{PLUMB_CORRUPT, "tokenizer section: merge " + std::to_string(i) + " of " +
                                      std::to_string(rule.left) + " and " +
                                      std::to_string(rule.right) + " into " +
                                      std::to_string(rule.joined) + ": " + how};
    };
    for (const uint32_t id : {rule.left, rule.right, rule.joined}) {
      if (id >= section.n_vocab || vocabulary_.attributes[id] != 0) {
        return broken("there is no token " + std::to_string(id) + " that is text");
      }
    }
    joined.assign(to_view(pieces_[rule.left])).append(to_view(pieces_[rule.right]));
    if (joined != to_view(pieces_[rule.joined])) {
      return broken("its token has other bytes than the two together");
    }
    const std::pair pair(static_cast<int32_t>(rule.left), static_cast<int32_t>(rule.right));
    const Merge merge = {rule.rank, static_cast<int32_t>(rule.joined)};
    if (!merges_.emplace(pair, merge).second) return broken("this pair has a merge already");
  }
  return {};
}

Result<void> SlmTokenizer::encode(const plumb_encode_request& request, Scratch& scratch,
                                  tokenizer::IdWriter& out) const {
  const std::string_view text = to_view(request.text);
  tokenizer::Merger& merger = scratch.merger;
  merger.clear();
  for (uint32_t at = 0; at < text.size(); ++at) {
    merger.add(at, at + 1, static_cast<uint8_t>(text[at]));
  }
  merger.run([&](const Symbol& left, const Symbol& right) {
    const auto found = merges_.find({left.id, right.id});
    return found == merges_.end() ? Merge{0, -1} : found->second;
  });
  if (merger.symbols.empty()) return {};
  for (uint32_t at = 0; at != tokenizer::kNoSymbol; at = merger.symbols[at].next) {
    const Symbol& symbol = merger.symbols[at];
    out.put(symbol.id, {symbol.begin, symbol.end});
  }
  return {};
}

std::string_view SlmTokenizer::piece(int32_t id, bool) const {
  return to_view(pieces_[id]);
}

}  // namespace plumbline::tokenizers::slm
