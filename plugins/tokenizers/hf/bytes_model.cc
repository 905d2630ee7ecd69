#include "bytes_model.h"

namespace plumbline::tokenizers::hf {

Result<void> BytesModel::encode_word(std::string_view word, Barred barred, Scratch& scratch) const {
  scratch.pieces.clear();
  bpe_.merge_word(word, barred, scratch.words.merger);
  const auto& symbols = scratch.words.merger.symbols;
  for (uint32_t at = symbols.empty() ? tokenizer::kNoSymbol : 0; at != tokenizer::kNoSymbol;
       at = symbols[at].next) {
    scratch.pieces.push_back({symbols[at].begin, symbols[at].end, symbols[at].id});
  }
  return {};
}

}  // namespace plumbline::tokenizers::hf
