#include "character_merges.h"

#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizers::hf {
namespace {

constexpr uint32_t kNone = PairIndex::kNone;

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

/// The latest rank on the way from bytes to `id`, or kNone if the merges do not lead there.
uint32_t latest_rank(std::string_view bytes, int32_t id, std::span<const int32_t, 256> byte_ids,
                     std::span<const int32_t> joined, const PairIndex& pairs) {
  int32_t ids[3] = {};
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

CharacterMerges::CharacterMerges(std::span<const std::string_view> pieces)
    : edges_(pieces.size()),
      first_use_(pieces.size(), kNone),
      wholes_(0x10000),
      before_(0x10000, kNone),
      behind_(0x10000, kNone),
      neighbours_((1u << kLogBits) / 64) {
  for (size_t id = 0; id < pieces.size(); ++id) {
    if (pieces[id].empty()) continue;
    Edge& edge = edges_[id];
    edge.first = static_cast<uint8_t>(pieces[id].front());
    edge.last = static_cast<uint8_t>(pieces[id].back());
    if (edge.first < 0x80) continue;
    edge.is_character = whole_character(pieces[id]) != 0;
    edge.is_beginning = is_beginning(pieces[id]);
    edge.begins_inside = utf8::is_continuation(pieces[id].front());
  }
}

void CharacterMerges::build(std::span<const std::string_view> pieces,
                            std::span<const int32_t, 256> byte_ids, std::span<const int32_t> joined,
                            const PairIndex& pairs) {
  std::copy(byte_ids.begin(), byte_ids.end(), byte_ids_.begin());
  for (size_t id = 0; id < pieces.size(); ++id) {
    add_neighbours(pieces[id]);
    if (!edges_[id].is_character) continue;
    const uint32_t latest =
        latest_rank(pieces[id], static_cast<int32_t>(id), byte_ids, joined, pairs);
    if (latest < first_use_[id]) {
      wholes_[whole_character(pieces[id])] = {static_cast<int32_t>(id), latest};
    }
  }
  edges_ = {};
  first_use_ = {};
}

void CharacterMerges::add_neighbours(std::string_view piece) {
  char32_t previous = 0;
  for (size_t at = 0; at < piece.size();) {
    if (static_cast<uint8_t>(piece[at]) < 0x80) {
      previous = 0;
      ++at;
      continue;
    }
    const utf8::Decoded next = utf8::decode(piece, at);
    const bool is_whole = next.form == utf8::Form::kWellFormed;
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
