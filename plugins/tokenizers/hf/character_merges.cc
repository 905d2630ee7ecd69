#include "character_merges.h"

#include <algorithm>

#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizers::hf {
namespace {

constexpr uint32_t kNone = PairIndex::kNone;

size_t cell(uint8_t last, uint8_t first) {
  return static_cast<size_t>(last) << 8 | first;
}

uint8_t first_byte(std::string_view piece) {
  return static_cast<uint8_t>(piece.front());
}
uint8_t last_byte(std::string_view piece) {
  return static_cast<uint8_t>(piece.back());
}

/// True if the bytes are one character's first ones, short of the whole.
bool is_beginning(std::string_view piece) {
  const utf8::Decoded first = utf8::decode(piece, 0);
  return first.form == utf8::Form::kTruncated && first.n_bytes == piece.size();
}

/// The character that these bytes are, if they are one of two or three bytes, else 0.
char32_t whole_character(std::string_view piece) {
  if (piece.size() < 2 || piece.size() > 3) return 0;
  const utf8::Decoded first = utf8::decode(piece, 0);
  return first.form == utf8::Form::kWellFormed && first.n_bytes == piece.size() ? first.code_point
                                                                                : 0;
}

void lower(uint32_t& rank, uint32_t other) {
  rank = std::min(rank, other);
}

/// The latest rank on the way from bytes to `id`, or kNone if the merges do not lead there.
uint32_t latest_rank(std::string_view bytes, int32_t id, std::span<const int32_t, 256> byte_ids,
                     std::span<const int32_t> joined, const PairIndex& pairs) {
  int32_t ids[3];
  size_t n = bytes.size();
  for (size_t i = 0; i < n; ++i) ids[i] = byte_ids[static_cast<uint8_t>(bytes[i])];
  uint32_t latest = 0;
  while (n > 1) {
    const uint32_t first = pairs.find(ids[0], ids[1]);
    const uint32_t second = n > 2 ? pairs.find(ids[1], ids[2]) : kNone;
    const uint32_t best = std::min(first, second);
    if (best == kNone) return kNone;
    latest = std::max(latest, best);
    const size_t at = first <= second ? 0 : 1;
    ids[at] = joined[best];
    for (size_t i = at + 1; i + 1 < n; ++i) ids[i] = ids[i + 1];
    --n;
  }
  return ids[0] == id ? latest : kNone;
}

}  // namespace

CharacterMerges::CharacterMerges(std::span<const std::string_view> pieces,
                                 std::span<const int32_t, 256> byte_ids,
                                 std::span<const Row> merges, std::span<const int32_t> joined,
                                 const PairIndex& pairs)
    : wholes_(0x10000),
      before_(0x10000, kNone),
      behind_(0x10000, kNone),
      neighbours_((1u << kLogBits) / 64) {
  std::copy(byte_ids.begin(), byte_ids.end(), byte_ids_.begin());
  std::vector<uint32_t> first_use(pieces.size(), kNone);  // of each id as a side of a merge
  for (const Row& merge : merges) {
    lower(first_use[merge.left], merge.rank);
    lower(first_use[merge.right], merge.rank);
    const std::string_view left = pieces[merge.left];
    const std::string_view right = pieces[merge.right];
    if (left.empty() || right.empty() || utf8::is_continuation(right.front())) continue;
    const size_t at = cell(last_byte(left), first_byte(right));
    if (is_beginning(right)) lower(before_[at], merge.rank);
    if (utf8::is_continuation(left.front())) lower(behind_[at], merge.rank);
  }
  for (size_t id = 0; id < pieces.size(); ++id) {
    add_neighbours(pieces[id]);
    const char32_t c = whole_character(pieces[id]);
    if (c == 0) continue;
    const uint32_t latest =
        latest_rank(pieces[id], static_cast<int32_t>(id), byte_ids, joined, pairs);
    if (latest < first_use[id]) wholes_[c] = {static_cast<int32_t>(id), latest};
  }
}

void CharacterMerges::add_neighbours(std::string_view piece) {
  char32_t previous = 0;
  for (size_t at = 0; at < piece.size();) {
    const utf8::Decoded next = utf8::decode(piece, at);
    const bool is_whole = next.form == utf8::Form::kWellFormed && next.n_bytes > 1;
    if (is_whole && previous != 0) {
      const uint32_t bit = bit_of(previous, next.code_point);
      neighbours_[bit / 64] |= uint64_t{1} << (bit % 64);
    }
    previous = is_whole ? next.code_point : 0;
    at += next.n_bytes;
  }
}

CharacterMerges::Run CharacterMerges::next_run(std::string_view word, size_t at, int32_t* ids,
                                               size_t most) const {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(word[i]); };
  size_t n = 0;
  const auto put = [&](int32_t id) {
    if (n < most) ids[n] = id;
    ++n;
  };
  uint32_t previous = 0;  // the character before, if it stands as one symbol
  while (at < word.size()) {
    const uint8_t lead = byte(at);
    if (lead < 0x80) {
      put(byte_ids_[lead]);
      previous = 0;
      ++at;
      continue;
    }
    const size_t n_bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    const size_t end = at + n_bytes;
    if (n_bytes < 4) {
      const uint32_t low = byte(end - 1) & 0x3Fu;
      const uint32_t c = n_bytes == 2 ? (lead & 0x1Fu) << 6 | low
                                      : (lead & 0xFu) << 12 | (byte(at + 1) & 0x3Fu) << 6 | low;
      const Whole whole = wholes_[c];
      if (whole.id >= 0 && (at == 0 || whole.latest < before_[cell(byte(at - 1), lead)]) &&
          (end == word.size() || whole.latest < behind_[cell(byte(end - 1), byte(end))])) {
        if (previous != 0 && !may_join(previous, c)) return {at, n};
        put(whole.id);
        previous = c;
        at = end;
        continue;
      }
    }
    for (; at < end; ++at) put(byte_ids_[byte(at)]);
    previous = 0;
  }
  return {at, n};
}

}  // namespace plumbline::tokenizers::hf
