#include "core/conversation/held_rows.h"

#include <algorithm>

namespace plumbline::conversation {

Result<uint32_t> HeldRows::keep_common(std::span<const int32_t> prompt_ids) {
  if (decoder_->n_past() != ids_.size()) ids_.clear();
  const size_t most = std::min(ids_.size(), prompt_ids.empty() ? 0 : prompt_ids.size() - 1);
  const auto end = std::mismatch(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(most),
                                 prompt_ids.begin())
                       .first;
  const auto n_rows = static_cast<uint32_t>(end - ids_.begin());
  PLUMB_TRY(truncate(n_rows));
  return n_rows;
}

void HeldRows::take(std::span<const int32_t> prompt_ids, std::span<const int32_t> generated) {
  ids_.assign(prompt_ids.begin(), prompt_ids.end());
  const size_t n_run = decoder_->n_past() - prompt_ids.size();
  ids_.insert(ids_.end(), generated.begin(),
              generated.begin() + static_cast<std::ptrdiff_t>(std::min(n_run, generated.size())));
}

Result<void> HeldRows::truncate(uint32_t n_rows) {
  if (n_rows < decoder_->n_past()) PLUMB_TRY(decoder_->truncate(n_rows));
  if (n_rows < ids_.size()) ids_.resize(n_rows);
  return {};
}

}  // namespace plumbline::conversation
