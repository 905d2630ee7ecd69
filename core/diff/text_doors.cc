#include "core/diff/text_doors.h"

#include <algorithm>
#include <cstdio>
#include <optional>

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

// Where the two take an id for different things; nothing if they do not.
std::optional<Place> other_attributes(const pipeline::Tokenizer& a, const pipeline::Tokenizer& b,
                                      int32_t id, uint32_t mask) {
  const uint32_t of_a = a.attributes(id) & mask, of_b = b.attributes(id) & mask;
  if (of_a == of_b) return std::nullopt;
  Place place;
  place.door = Door::kBytes;
  place.seen_a = shown_attributes(id, of_a);
  place.seen_b = shown_attributes(id, of_b);
  return place;
}

// An id of the vocabulary that ends a text in one of the two alone.
std::optional<Place> other_end_token(const pipeline::Tokenizer& a, const pipeline::Tokenizer& b) {
  const auto n_vocab = static_cast<int32_t>(std::min(a.info().n_vocab, b.info().n_vocab));
  for (int32_t id = 0; id < n_vocab; ++id) {
    if (auto place = other_attributes(a, b, id, PLUMB_TOKEN_END)) return place;
  }
  return std::nullopt;
}

// The end that comes first decides, and it is one by ids: a stop text is a matter of the text.
bool ends_apart_by_id(const ShownDoors& found) {
  if (found.a.n_ids == found.b.n_ids && found.a.end == found.b.end) return false;
  return (found.a.n_ids <= found.b.n_ids && found.a.end && found.a.end->is_by_id()) ||
         (found.b.n_ids <= found.a.n_ids && found.b.end && found.b.end->is_by_id());
}

// Door 50 of ids that both have, where their bytes are equal.
std::optional<Place> first_other_rule(const ShownDoors& found, const pipeline::Tokenizer& a,
                                      const pipeline::Tokenizer& b, std::span<const int32_t> both) {
  const auto at_id = [&](Place place, size_t index) {
    place.at = found.bytes.size_a;
    place.step = static_cast<uint32_t>(index);
    return place;
  };
  for (size_t i = 0; i < both.size(); ++i) {
    if (auto place = other_attributes(a, b, both[i], PLUMB_TOKEN_END | PLUMB_TOKEN_CONTROL))
      return at_id(*std::move(place), i);
  }
  if (ends_apart_by_id(found)) {
    Place place;
    place.door = Door::kBytes;
    place.seen_a = "ended by " + shown_end(found.a, both);
    place.seen_b = "ended by " + shown_end(found.b, both);
    return at_id(std::move(place), both.size() - 1);
  }
  if (auto place = other_end_token(a, b)) return at_id(*std::move(place), 0);
  return std::nullopt;
}

// Door 60: the text, and what ended it.
ExactDoor compare_texts(const ShownDoors& found, std::span<const int32_t> ids_a,
                        std::span<const int32_t> ids_b) {
  ExactDoor door = compare_bytes(Door::kText, found.a.text, found.b.text);
  const bool is_same_end = found.a.end == found.b.end && found.a.n_ids == found.b.n_ids;
  if (is_same_end || (!found.a.end && !found.b.end)) return door;
  const std::string end_a = "ended by " + shown_end(found.a, ids_a);
  const std::string end_b = "ended by " + shown_end(found.b, ids_b);
  if (door.place) {
    door.place->seen_a += ", " + end_a;
    door.place->seen_b += ", " + end_b;
  } else if (!found.bytes.place) {
    Place place;
    place.door = Door::kText;
    place.at = found.a.text.size();
    place.seen_a = end_a;
    place.seen_b = end_b;
    door.place = std::move(place);
    door.verdict = Verdict::kWrong;
  }
  if (door.place)
    door.place->step =
        static_cast<uint32_t>(std::max<size_t>(1, std::min(found.a.n_ids, found.b.n_ids)) - 1);
  return door;
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
  return show_ids_under(side, ids, side.answer_options());
}

Result<ShownText> show_ids_under(pipeline::Pipeline& side, std::span<const int32_t> ids,
                                 pipeline::AnswerOptions options) {
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, side.tokenizer());
  pipeline::AnswerText answer(*tokenizer, std::move(options), {});
  ShownText shown;
  for (const int32_t id : ids) {
    PLUMB_ASSIGN(const auto ended, answer.add(id));
    ++shown.n_ids;
    shown.bytes += answer.last_bytes();
    if (!ended) continue;
    shown.end.emplace();
    if (ended->stop) shown.end = {ended->stop->kind, shown.bytes.size() - ended->stop->at};
    break;
  }
  answer.flush();
  shown.text = answer.text();
  return shown;
}

std::string shown_end(const ShownText& shown, std::span<const int32_t> ids) {
  if (!shown.end || shown.n_ids == 0 || shown.n_ids > ids.size()) return "nothing";
  const std::string id = "id " + std::to_string(ids[shown.n_ids - 1]) + ", ";
  const std::string cut = " of which " + std::to_string(shown.end->n_cut) +
                          (shown.end->n_cut == 1 ? " byte was cut" : " bytes were cut");
  if (!shown.end->stop) return id + "an end token";
  switch (*shown.end->stop) {
    case pipeline::Stop::Kind::kId:
      return id + "a stop id";
    case pipeline::Stop::Kind::kTail:
      return id + "the end of a row of stop ids" + cut;
    case pipeline::Stop::Kind::kText:
      return id + "the end of a stop text" + cut;
  }
  return "nothing";
}

Result<ShownDoors> compare_shown(pipeline::Pipeline& a, pipeline::Pipeline& b,
                                 std::span<const int32_t> ids_a, std::span<const int32_t> ids_b,
                                 const Shower& show_b) {
  ShownDoors found;
  if (ids_a.empty() && ids_b.empty()) {
    found.bytes = not_compared(Door::kBytes, "no token was generated");
    found.text = not_compared(Door::kText, "no token was generated");
    return found;
  }
  PLUMB_ASSIGN(found.a, show_ids(a, ids_a));
  PLUMB_ASSIGN(found.b, show_b(b, ids_b));
  // Of ids that both show: what one shows of the other's end, or behind it, follows from that.
  const size_t n_both = std::min(found.a.n_ids, found.b.n_ids);
  const size_t n_bytes = n_both - (n_both > 0 && ends_apart_by_id(found) ? 1 : 0);
  PLUMB_ASSIGN(const ShownText both_a, show_ids(a, ids_a.first(n_bytes)));
  PLUMB_ASSIGN(const ShownText both_b, show_b(b, ids_b.first(n_bytes)));
  found.bytes = compare_bytes(Door::kBytes, both_a.bytes, both_b.bytes);
  if (!found.bytes.place && n_both > 0) {
    PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer_a, a.tokenizer());
    PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer_b, b.tokenizer());
    found.bytes.place = first_other_rule(found, *tokenizer_a, *tokenizer_b, ids_a.first(n_both));
    if (found.bytes.place) found.bytes.verdict = Verdict::kWrong;
  }
  found.text = compare_texts(found, ids_a, ids_b);
  return found;
}

}  // namespace plumbline::diff
