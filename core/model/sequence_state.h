// sequence_state.h: a sequence's rows as bytes, to be kept and put back: after that the logits of
// the next id have the bits that they would have had.
//
// For a file that outlives the process:
//
//   1. identity: a hash over everything that the bits of the rows depend on: the weights' sha256,
//      the format of activations, the names of the kernels' numerics. Rows are put back only where
//      the same hash is given.
//   2. save_sequence hands the bytes over piece by piece, state_bytes() in all: write them, and
//      hash them as they pass. They hold no ids: keep those beside them, n_fed() of them.
//   3. To put back: map or read the file, compare its hash, then restore_sequence. The hash is
//      what notices a flipped bit of a number; restore_sequence itself trusts no byte either: a
//      stranger's, a cut or a damaged state is refused, and reads nothing outside of its bytes.
//
// Layout, all numbers little-endian:
//
//      0  char[8]  "plumb-kv"
//      8  u32      1, the version of the layout
//     12  u32      n_runs, of KvWindow::State
//     16  u8[32]   identity
//     48  u32      n_layers, n_heads_kv K, head_width C, format PLUMB_F32 or PLUMB_F16 (i32)
//     64  u32      1 if un-rotated keys are held, else 0
//     68  u32      n_rows n, then n_untouched
//     76  u32      0
//     80  u64      n_fed, exact_from, bytes of all that follows
//    104  n_runs times: u64 first_place, u32 first_row, u32 0
//         n_layers times: k [n,K,C], v [n,K,C] in the format, un-rotated keys f32[n,K,C] if held
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "core/model/decoder.h"
#include "core/model/sequence.h"
#include "plumb/sdk/result.h"

namespace plumbline::model {

using StateIdentity = std::array<uint8_t, 32>;

/// Called with one piece after the other, borrowed until return; an error ends the saving.
using StateSink = std::function<Result<void>(std::span<const uint8_t> piece)>;

/// Bytes of the sequence as it is now.
uint64_t state_bytes(const Decoder& decoder, const Sequence& sequence);

/// The sequence must be the decoder's, and not be running. Fails as the sink and the backend do.
Result<void> save_sequence(const Decoder& decoder, const Sequence& sequence,
                           const StateIdentity& identity, const StateSink& sink);

/// Puts rows in the place of all that the sequence holds. Fails CORRUPT (no such state, cut or
/// longer, numbers that are not finite, rows that cannot be), INCOMPATIBLE (of another version of
/// the layout), INVALID_ARGUMENT (of another identity, shape or format; more rows than there is
/// room for; without the un-rotated keys that this decoder keeps): the sequence is then as it was.
/// As the backend does: it is then empty.
Result<void> restore_sequence(const Decoder& decoder, Sequence& sequence,
                              const StateIdentity& identity, std::span<const uint8_t> bytes);

}  // namespace plumbline::model
