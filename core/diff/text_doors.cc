#include "core/diff/text_doors.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "core/pipeline/answer_text.h"

namespace plumbline::diff {
namespace {

constexpr size_t kContextBytes = 12;  // in front of a difference

std::string around(std::string_view bytes, size_t at) {
  const size_t begin = at > kContextBytes ? at - kContextBytes : 0;
  const std::string_view piece = bytes.substr(std::min(begin, bytes.size()), 3 * kContextBytes);
  return quoted(piece, piece.size()) + (at >= bytes.size() ? ", which ends there" : "");
}

std::string shown_id(const pipeline::Encoding& encoding, size_t index, std::string_view text) {
  if (index >= encoding.ids.size()) return "no id: it ends there";
  std::string shown = "id " + std::to_string(encoding.ids[index]);
  if (index < encoding.spans.size()) {
    const plumb_span span = encoding.spans[index];
    if (span.begin < span.end && span.end <= text.size())
      shown += " " + quoted(text.substr(span.begin, span.end - span.begin));
  }
  return shown;
}

ExactDoor same_so_far(Door door, uint64_t size_a, uint64_t size_b) {
  ExactDoor found;
  found.door = door;
  found.size_a = size_a;
  found.size_b = size_b;
  found.is_compared = true;
  return found;
}

std::string shown_attributes(int32_t id, uint32_t attributes) {
  return "id " + std::to_string(id) +
         (attributes & PLUMB_TOKEN_END       ? " ends the text"
          : attributes & PLUMB_TOKEN_CONTROL ? " is a control token"
                                             : " is text");
}

// Strangers' bytes, one range for each stretch of them.
std::vector<plumb_span> stretches(const std::vector<plumb_span>& ranges) {
  std::vector<plumb_span> found;
  for (const plumb_span range : ranges) {
    if (range.begin == range.end) continue;
    if (found.empty() || found.back().end < range.begin) {
      found.push_back(range);
    } else {
      found.back().end = std::max(found.back().end, range.end);
    }
  }
  return found;
}

// The first byte that only one of the two takes for a stranger's.
std::optional<uint64_t> first_other_author(const std::vector<plumb_span>& a,
                                           const std::vector<plumb_span>& b) {
  const std::vector<plumb_span> of_a = stretches(a), of_b = stretches(b);
  for (size_t i = 0; i < std::max(of_a.size(), of_b.size()); ++i) {
    if (i >= of_a.size()) return of_b[i].begin;
    if (i >= of_b.size()) return of_a[i].begin;
    if (of_a[i].begin != of_b[i].begin) return std::min(of_a[i].begin, of_b[i].begin);
    if (of_a[i].end != of_b[i].end) return std::min(of_a[i].end, of_b[i].end);
  }
  return std::nullopt;
}

std::string shown_author(const pipeline::Prompt& prompt, uint64_t at) {
  const std::string shown = around(prompt.bytes, at) + ": ";
  if (!prompt.untrusted) return shown + "nobody can tell who wrote that";
  const bool is_strangers = std::ranges::any_of(
      *prompt.untrusted, [&](plumb_span range) { return range.begin <= at && at < range.end; });
  return shown + (is_strangers ? "a stranger's" : "the operator's");
}

// The first of these ids that the two take for different things.
std::optional<Place> first_other_attributes(const pipeline::Tokenizer& a,
                                            const pipeline::Tokenizer& b,
                                            std::span<const int32_t> generated, uint64_t at) {
  const auto place_of = [&](int32_t id, uint32_t mask) -> std::optional<Place> {
    const uint32_t of_a = a.attributes(id) & mask, of_b = b.attributes(id) & mask;
    if (of_a == of_b) return std::nullopt;
    Place place;
    place.door = Door::kBytes;
    place.at = at;
    place.seen_a = shown_attributes(id, of_a);
    place.seen_b = shown_attributes(id, of_b);
    return place;
  };
  for (const int32_t id : generated) {
    if (auto place = place_of(id, PLUMB_TOKEN_END | PLUMB_TOKEN_CONTROL)) return place;
  }
  const auto n_vocab = static_cast<int32_t>(std::min(a.info().n_vocab, b.info().n_vocab));
  for (int32_t id = 0; id < n_vocab; ++id) {
    if (auto place = place_of(id, PLUMB_TOKEN_END)) return place;
  }
  return std::nullopt;
}

}  // namespace

std::string quoted(std::string_view bytes, size_t max_bytes) {
  std::string shown = "\"";
  for (const char c : bytes.substr(0, max_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      shown += "\\n";
    } else if (c == '"' || c == '\\') {
      shown += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7f) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "\\x%02x", byte);
      shown += hex;
    } else {
      shown += c;
    }
  }
  return shown + (bytes.size() > max_bytes ? "\"..." : "\"");
}

ExactDoor compare_bytes(Door door, std::string_view a, std::string_view b) {
  ExactDoor found = same_so_far(door, a.size(), b.size());
  if (a == b) return found;
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto at = static_cast<size_t>(in_a - a.begin());
  Place place;
  place.door = door;
  place.at = at;
  place.seen_a = around(a, at);
  place.seen_b = around(b, at);
  found.place = std::move(place);
  found.verdict = Verdict::kWrong;
  return found;
}

ExactDoor compare_prompts(const pipeline::Prompt& a, const pipeline::Prompt& b) {
  ExactDoor found = compare_bytes(Door::kPrompt, a.bytes, b.bytes);
  if (found.place || (!a.untrusted && !b.untrusted)) return found;
  const bool can_tell = a.untrusted && b.untrusted;
  const std::vector<plumb_span> none;
  const std::optional<uint64_t> at =
      first_other_author(a.untrusted.value_or(none), b.untrusted.value_or(none));
  if (can_tell && !at) return found;
  Place place;
  place.door = Door::kPrompt;
  place.at = at.value_or(0);
  place.seen_a = shown_author(a, place.at);
  place.seen_b = shown_author(b, place.at);
  found.place = std::move(place);
  found.verdict = can_tell ? Verdict::kWrong : Verdict::kUnexplained;
  return found;
}

ExactDoor compare_ids(const pipeline::Encoding& a, const pipeline::Encoding& b,
                      std::string_view text) {
  ExactDoor found = same_so_far(Door::kTokens, a.ids.size(), b.ids.size());
  if (a.ids == b.ids) return found;
  const auto [in_a, in_b] = std::mismatch(a.ids.begin(), a.ids.end(), b.ids.begin(), b.ids.end());
  const auto at = static_cast<size_t>(in_a - a.ids.begin());
  Place place;
  place.door = Door::kTokens;
  place.at = at;
  place.seen_a = shown_id(a, at, text);
  place.seen_b = shown_id(b, at, text);
  const pipeline::Encoding& longer = at < a.spans.size() ? a : b;
  if (at < longer.spans.size()) {
    place.bytes_begin = longer.spans[at].begin;
    place.bytes_end = longer.spans[at].end;
  }
  found.place = std::move(place);
  found.verdict = Verdict::kWrong;
  return found;
}

ExactDoor not_compared(Door door, std::string why) {
  ExactDoor found;
  found.door = door;
  found.why_not = std::move(why);
  return found;
}

Result<ShownText> show_ids(pipeline::Pipeline& side, std::span<const int32_t> ids) {
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, side.tokenizer());
  pipeline::AnswerText answer(*tokenizer, side.answer_options(), {});
  ShownText shown;
  for (const int32_t id : ids) {
    PLUMB_ASSIGN(const auto ended, answer.add(id));
    shown.bytes += answer.last_bytes();
    if (ended) break;
  }
  answer.flush();
  shown.text = answer.text();
  return shown;
}

Result<ShownDoors> compare_shown(pipeline::Pipeline& a, pipeline::Pipeline& b,
                                 std::span<const int32_t> ids_a, std::span<const int32_t> ids_b) {
  ShownDoors found;
  if (ids_a.empty() && ids_b.empty()) {
    found.bytes = not_compared(Door::kBytes, "no token was generated");
    found.text = not_compared(Door::kText, "no token was generated");
    return found;
  }
  PLUMB_ASSIGN(found.a, show_ids(a, ids_a));
  PLUMB_ASSIGN(found.b, show_ids(b, ids_b));
  found.bytes = compare_bytes(Door::kBytes, found.a.bytes, found.b.bytes);
  found.text = compare_bytes(Door::kText, found.a.text, found.b.text);
  if (found.bytes.place) return found;
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer_a, a.tokenizer());
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer_b, b.tokenizer());
  found.bytes.place =
      first_other_attributes(*tokenizer_a, *tokenizer_b, ids_a, found.a.bytes.size());
  if (found.bytes.place) found.bytes.verdict = Verdict::kWrong;
  return found;
}

}  // namespace plumbline::diff
