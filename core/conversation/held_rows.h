// held_rows.h: which ids the decoder's caches hold, and how many of them a prompt can use again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/decoder.h"

namespace plumbline::conversation {

class HeldRows {
 public:
  /// Nobody else should use the decoder; whoever does makes the conversation begin anew.
  explicit HeldRows(model::Decoder& decoder) : decoder_(&decoder) {}

  const std::vector<int32_t>& ids() const { return ids_; }
  /// Cuts the caches to the longest prefix that they have in common with a prompt, and returns its
  /// rows. One id of the prompt is always left to run, for its logits.
  Result<uint32_t> keep_common(std::span<const int32_t> prompt_ids);
  /// After a generation: the prompt, and of the generated ids those that were run.
  void take(std::span<const int32_t> prompt_ids, std::span<const int32_t> generated);
  Result<void> truncate(uint32_t n_rows);

 private:
  model::Decoder* decoder_;
  std::vector<int32_t> ids_;
};

}  // namespace plumbline::conversation
