// history_ids.h: which ids stand for an answer that is history: those the model generated, or those
// that the tokenizer has for its text.
//
// The two differ where a model spells a word otherwise than the tokenizer would.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/config/pipeline_config.h"
#include "core/conversation/span_cache.h"
#include "core/conversation/transcript.h"

namespace plumbline::conversation {

using config::HistoryIds;

struct PromptIds {
  std::string bytes;
  std::vector<int32_t> ids;
  /// Parts of the prompt whose bytes are those of something the model said, and of these the ones
  /// with other ids than the tokenizer's.
  uint32_t n_spoken = 0;
  uint32_t n_mismatches = 0;
  /// The last part, which an answer goes on with.
  Spoken last;
};

/// The parts' ids one after the other. Under kStored a part that the model said has the model's
/// ids; of parts with the same bytes the first is the first that it said.
PromptIds join_parts(std::span<const SpanCache::Part> parts, const Transcript& transcript,
                     HistoryIds history_ids);

/// Do the ids decode to the bytes? Fails INVALID_ARGUMENT: an id outside the vocabulary.
Result<bool> spells(const pipeline::Tokenizer& tokenizer, const Spoken& spoken);

/// What the model said, in the parts that a later prompt will have if its template writes the same
/// bytes. last: the prompt's last part. generated: without an end token, for the template writes
/// that, and without a stop. Nothing where the prompt has no borders.
Result<std::vector<Spoken>> spoken_parts(const SpanCache& cache,
                                         const pipeline::Tokenizer& tokenizer, Spoken last,
                                         std::span<const int32_t> generated);

}  // namespace plumbline::conversation
