#include "core/conversation/held_rows.h"

#include <algorithm>

namespace plumbline::conversation {

Result<uint32_t> HeldRows::keep_common(std::span<const int32_t> prompt_ids) {
  if (!are_whole()) ids_.clear();
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
  ids_.insert(ids_.end(), generated.begin(), generated.end());
  // The last one picked was not run, and after a cancel perhaps not even all of the prompt.
  ids_.resize(std::min<size_t>(ids_.size(), decoder_->n_past()));
}

Result<void> HeldRows::truncate(uint32_t n_rows) {
  if (n_rows < decoder_->n_past()) PLUMB_TRY(decoder_->truncate(n_rows));
  if (n_rows < ids_.size()) ids_.resize(n_rows);
  return {};
}

Result<void> HeldRows::write_rows(const model::StateIdentity& identity,
                                  const os::PieceSink& sink) const {
  return model::save_sequence(
      *decoder_, decoder_->sequence(), identity, [&](std::span<const uint8_t> piece) {
        return sink({reinterpret_cast<const char*>(piece.data()), piece.size()});
      });
}

Result<bool> HeldRows::restore(std::string_view rows, std::vector<int32_t> ids,
                               const model::StateIdentity& identity) {
  const auto* const data = reinterpret_cast<const uint8_t*>(rows.data());
  auto restored = model::restore_sequence(*decoder_, decoder_->sequence(), identity,
                                          std::span(data, rows.size()));
  const plumb_status status = restored ? PLUMB_OK : restored.error().code;
  if (status == PLUMB_INVALID_ARGUMENT || status == PLUMB_INCOMPATIBLE) return false;
  if (!restored) return std::move(restored).error();
  ids_ = std::move(ids);
  if (are_whole()) return true;
  const std::string seen =
      std::to_string(ids_.size()) + " ids beside " + std::to_string(decoder_->n_past()) + " rows";
  PLUMB_TRY(truncate(0));
  return Error{PLUMB_CORRUPT, seen + ", expected one each"};
}

}  // namespace plumbline::conversation
