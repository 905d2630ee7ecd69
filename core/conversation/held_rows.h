// held_rows.h: which ids the decoder's caches hold, and how many of them a prompt can use again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/os/durable.h"
#include "core/model/decoder.h"
#include "core/model/sequence_state.h"

namespace plumbline::conversation {

class HeldRows {
 public:
  /// Nobody else should use the decoder; whoever does makes the conversation begin anew.
  explicit HeldRows(model::Decoder& decoder) : decoder_(&decoder) {}

  const std::vector<int32_t>& ids() const { return ids_; }
  /// Every row that the decoder holds has its id here.
  bool are_whole() const { return ids_.size() == decoder_->n_past(); }
  /// Cuts the caches to the longest prefix that they have in common with a prompt, and returns its
  /// rows. One id of the prompt is always left to run, for its logits.
  Result<uint32_t> keep_common(std::span<const int32_t> prompt_ids);
  /// After a generation: of the prompt and the generated ids those that were run.
  void take(std::span<const int32_t> prompt_ids, std::span<const int32_t> generated);
  Result<void> truncate(uint32_t n_rows);

  /// The rows as bytes, piece by piece, which belong to an identity of 32 bytes:
  /// model/sequence_state.h.
  uint64_t rows_bytes() const { return model::state_bytes(*decoder_, decoder_->sequence()); }
  Result<void> write_rows(const model::StateIdentity& identity, const os::PieceSink& sink) const;
  /// Puts saved rows and their ids in the place of all. False, and nothing has changed: they are of
  /// another kind than the decoder's, of another version, or too many. Fails CORRUPT: no rows, or
  /// other ids than rows.
  Result<bool> restore(std::string_view rows, std::vector<int32_t> ids,
                       const model::StateIdentity& identity);

 private:
  model::Decoder* decoder_;
  std::vector<int32_t> ids_;
};

}  // namespace plumbline::conversation
