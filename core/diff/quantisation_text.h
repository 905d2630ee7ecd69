// quantisation_text.h: reads a text with one side, or two side by side, and scores it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "core/diff/quantisation.h"
#include "core/diff/side.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

struct TextRequest {
  std::string_view text;
  uint32_t context = 512;  // n: ids of a chunk; even, at least 4
  uint32_t n_chunks = 0;  // 0: as many as the text has; what is left over is not read
  const std::atomic<bool>* cancel = nullptr;
  /// Told behind each chunk; rows: what was scored so far.
  std::function<void(uint32_t done, uint32_t of, std::span<const Scored> rows)> on_chunk = {};
};

/// The text is encoded once, as a whole, without literals of control tokens, and with what the
/// vocabulary's own post-processor puts around it; where a model begins with a token of its own,
/// that one takes the place of each chunk's first id. Both sides run chunk by chunk together; no
/// more than a few rows of logits are kept.
/// b: null: one side alone. Fails INVALID_ARGUMENT (a text too short for one chunk, a context that
/// does not fit), INCOMPATIBLE (other vocabularies, or the sides encode the text differently),
/// NUMERIC (which row), CANCELLED, and as a side does.
Result<TextScores> score_text(Side& a, Side* b, const TextRequest& request);

}  // namespace plumbline::diff
