// scores_model.h: SentencePiece's byte-pair encoding, which joins whatever makes the token of the
// highest score.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model.h"
#include "plumb/sdk/tokenizer/token_index.h"

namespace plumbline::tokenizers::hf {

/// Source  SentencePiece, src/bpe_model.cc. The literals that it never joins are cut out before a
///         word comes here: it is an engine's added tokens that do so.
class ScoresModel : public Model {
 public:
  /// By id; texts differ and stay where they are for the model's life. Only tokens that are text,
  /// by their attributes, come out of a text; what is unknown becomes its byte tokens if there are
  /// 256.
  static std::unique_ptr<ScoresModel> create(std::vector<std::string_view> texts,
                                             std::span<const float> scores,
                                             std::span<const uint8_t> attributes,
                                             int32_t unknown_id);

  Result<void> encode_word(std::string_view word, Barred barred, Scratch& scratch) const override;

 private:
  explicit ScoresModel(std::vector<std::string_view> texts);
  int32_t find(std::string_view text, Barred barred) const;
  void put(std::string_view word, const tokenizer::Symbol& symbol, Barred barred,
           Scratch& scratch) const;
  void put_unknown(std::string_view word, uint32_t begin, uint32_t end,
                   std::vector<tokenizer::Piece>& out) const;

  std::vector<std::string_view> texts_;
  std::vector<uint32_t> priorities_;
  std::vector<bool> is_unused_;
  tokenizer::TokenIndex index_;
  size_t longest_bytes_ = 0;
  std::array<int32_t, 256> byte_ids_;
  bool has_bytes_ = false;
  int32_t unknown_id_ = -1;
};

}  // namespace plumbline::tokenizers::hf
