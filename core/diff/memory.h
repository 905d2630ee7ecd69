// memory.h: what a comparison has to hold, counted before anything runs.
#pragma once

#include <cstdint>

#include "core/model/decoder.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// Of a recording of all of a decoder's ops over so many ids: rows of the body's ops at each, of
/// the head's at n_head_rows of them. Of what cannot be counted in 64 bits: the most there is.
uint64_t recording_bytes(const model::Decoder& decoder, uint64_t n_ids, uint64_t n_head_rows);

/// Half of the machine's memory: the other half is for the weights, the caches and the system.
uint64_t default_bytes_max();

/// Fails INVALID_ARGUMENT: what is needed, of how many ids, how much is allowed, and what to do.
Result<void> check_memory(uint64_t bytes, uint64_t n_ids, uint64_t bytes_max);

}  // namespace plumbline::diff
