#include "charsmap.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "plumb/sdk/utf8.h"
#include "unicode.h"

namespace plumbline::tokenizers::hf {
namespace {

uint32_t little_endian(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

bool has_leaf(uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
uint32_t value_of(uint32_t unit) {
  return unit & 0x7FFFFFFFu;
}
uint32_t label_of(uint32_t unit) {
  return unit & 0x800000FFu;
}
uint32_t offset_of(uint32_t unit) {
  return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

/// Where the grapheme that starts at `at` ends.
size_t grapheme_end(std::string_view text, size_t at) {
  utf8::Decoded last = utf8::decode(text, at);
  utf8proc_int32_t state = 0;
  for (at += last.n_bytes; at < text.size(); at += last.n_bytes) {
    const utf8::Decoded next = utf8::decode(text, at);
    const bool breaks = utf8proc_grapheme_break_stateful(
                            static_cast<utf8proc_int32_t>(last.code_point),
                            static_cast<utf8proc_int32_t>(next.code_point), &state) != 0;
    if (breaks) break;
    last = next;
  }
  return at;
}

/// Source  RFC 4648, section 4.
Result<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<int8_t, 256> values;
  values.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);

  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  uint32_t n_bits = 0;
  for (const char c : text) {
    const int8_t value = values[static_cast<uint8_t>(c)];
    if (value < 0) return Error{PLUMB_CORRUPT, "is not base64"};
    bits = bits << 6 | static_cast<uint32_t>(value);
    n_bits += 6;
    if (n_bits < 8) continue;
    n_bits -= 8;
    out.push_back(static_cast<char>(bits >> n_bits));
  }
  return out;
}

}  // namespace

Result<Charsmap> Charsmap::read(std::string_view bytes) {
  if (bytes.size() < 4) return Error{PLUMB_CORRUPT, "is shorter than its own head"};
  const uint32_t n_trie_bytes = little_endian(bytes, 0);
  if (n_trie_bytes > bytes.size() - 4 || n_trie_bytes < 4 || n_trie_bytes % 4 != 0) {
    return Error{PLUMB_CORRUPT, "has a trie of " + std::to_string(n_trie_bytes) + " bytes in " +
                                    std::to_string(bytes.size())};
  }
  Charsmap made;
  made.units_.reserve(n_trie_bytes / 4);
  for (size_t at = 4; at < 4 + size_t{n_trie_bytes}; at += 4)
    made.units_.push_back(little_endian(bytes, at));
  made.replacements_ = bytes.substr(4 + n_trie_bytes);
  if (!utf8::is_well_formed(made.replacements_))
    return Error{PLUMB_CORRUPT, "has replacements that are no UTF-8"};
  return made;
}

Result<Charsmap> Charsmap::read_base64(std::string_view text) {
  PLUMB_ASSIGN(const std::string bytes, decode_base64(text));
  return read(bytes);
}

template <typename OnRule>
void Charsmap::walk(std::string_view text, const OnRule& on_rule) const {
  size_t node = offset_of(units_[0]);
  for (size_t n_bytes = 1; n_bytes <= text.size(); ++n_bytes) {
    const uint8_t byte = static_cast<uint8_t>(text[n_bytes - 1]);
    if (byte == 0) return;
    node ^= byte;
    if (node >= units_.size() || label_of(units_[node]) != byte) return;
    const uint32_t unit = units_[node];
    node ^= offset_of(unit);
    if (node >= units_.size()) return;
    if (!has_leaf(unit)) continue;
    const size_t begin = value_of(units_[node]);
    if (begin >= replacements_.size() || utf8::is_continuation(replacements_[begin])) return;
    const size_t end = std::min(replacements_.find('\0', begin), replacements_.size());
    if (!on_rule({n_bytes, std::string_view(replacements_).substr(begin, end - begin)})) return;
  }
}

std::optional<std::string_view> Charsmap::find(std::string_view text) const {
  std::optional<std::string_view> found;
  walk(text, [&](const Rule& rule) {
    found = rule.replacement;
    return false;
  });
  return found;
}

std::optional<Charsmap::Rule> Charsmap::find_longest(std::string_view text) const {
  // A broken trie may have rings; a rule of so many bytes is none.
  constexpr size_t kLongestRule = 256;
  std::optional<Rule> found;
  walk(text.substr(0, kLongestRule), [&](const Rule& rule) {
    const bool is_whole = rule.n_bytes == text.size() || !utf8::is_continuation(text[rule.n_bytes]);
    if (is_whole) found = rule;
    return true;
  });
  return found;
}

tokenizer::MappedView Charsmap::apply(const tokenizer::MappedView& view,
                                      tokenizer::MappedText& storage) const {
  constexpr size_t kLongestWholeGrapheme = 5;
  const std::string_view text = view.text();
  size_t n_kept = 0;
  bool changed = false;
  const auto replace = [&](size_t begin, size_t end) {
    const std::optional<std::string_view> found = find(text.substr(begin, end - begin));
    if (!found) return false;
    if (!changed) storage.clear();
    changed = true;
    storage.append(view.part(n_kept, begin));
    storage.append(*found, view.source(begin, end));
    n_kept = end;
    return true;
  };
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = grapheme_end(text, begin);
    if (end - begin > kLongestWholeGrapheme || !replace(begin, end)) {
      for (size_t at = begin; at < end;) {
        const size_t next = at + utf8::decode(text, at).n_bytes;
        replace(at, next);
        at = next;
      }
    }
    begin = end;
  }
  if (!changed) return view;
  storage.append(view.part(n_kept, text.size()));
  return storage.view();
}

}  // namespace plumbline::tokenizers::hf
