// saved_transcript.h: a transcript as JSON and back; what comes back is checked.
#pragma once

#include "core/conversation/transcript.h"
#include "core/pipeline/tokenizer.h"

namespace plumbline::conversation {

OrderedJson saved(const Transcript& transcript);

/// Fails CORRUPT: which value is wrong, and what was expected; ids that do not spell the text that
/// they are kept for.
Result<Transcript> restored(const OrderedJson& saved, const pipeline::Tokenizer& tokenizer);

/// A number of an object, 0 to most. Fails CORRUPT.
Result<uint64_t> count(const OrderedJson& object, const char* key, uint64_t most);

}  // namespace plumbline::conversation
