// bytes_model.h: byte-level BPE as a model, for words that do not come straight from a splitter.
#pragma once

#include <utility>

#include "bpe.h"
#include "model.h"

namespace plumbline::tokenizers::hf {

class BytesModel : public Model {
 public:
  explicit BytesModel(Bpe bpe) : bpe_(std::move(bpe)) {}
  const Bpe* bytes() const override { return &bpe_; }
  Result<void> encode_word(std::string_view word, Barred barred, Scratch& scratch) const override;

 private:
  Bpe bpe_;
};

}  // namespace plumbline::tokenizers::hf
