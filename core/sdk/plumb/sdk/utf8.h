// utf8.h: the only place that says "character". Decoding with maximal subparts, and assembling a
// stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace plumbline::utf8 {

constexpr char32_t kReplacement = 0xFFFD;

enum class Form : uint8_t {
  kWellFormed,
  kIllFormed,
  kTruncated,  ///< a good beginning that the end of the text cuts off
};

/// One character, or one maximal subpart of an ill-formed sequence, which reads as U+FFFD.
struct Decoded {
  char32_t code_point;
  uint32_t n_bytes;
  Form form;
};

constexpr bool is_continuation(char byte) {
  return (static_cast<uint8_t>(byte) & 0xC0) == 0x80;
}

/// The character that starts at byte `at`, which must lie inside the text.
/// Source  The Unicode Standard, table 3-7 and "U+FFFD Substitution of Maximal Subparts" in
/// section 3.9: one
///         U+FFFD for each maximal subpart, as Python, Rust and browsers replace.
constexpr Decoded decode(std::string_view text, size_t at) {
  const auto byte_at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte_at(at);
  if (lead < 0x80) return {lead, 1, Form::kWellFormed};
  if (lead < 0xC2 || lead > 0xF4) return {kReplacement, 1, Form::kIllFormed};

  const uint32_t n = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t code_point = lead & (0x7Fu >> n);
  for (uint32_t i = 1; i < n; ++i) {
    if (at + i >= text.size()) return {kReplacement, i, Form::kTruncated};
    const uint8_t byte = byte_at(at + i);
    if (byte < low || byte > high) return {kReplacement, i, Form::kIllFormed};
    code_point = code_point << 6 | (byte & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {code_point, n, Form::kWellFormed};
}

/// Appends the encoding of a code point (not a surrogate, at most U+10FFFF).
inline void append(std::string& out, char32_t code_point) {
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

/// The first byte that is not part of a well-formed character, or the text's end.
constexpr size_t find_ill_formed(std::string_view text, size_t at = 0) {
  while (at < text.size()) {
    const Decoded next = decode(text, at);
    if (next.form != Form::kWellFormed) return at;
    at += next.n_bytes;
  }
  return text.size();
}

constexpr bool is_well_formed(std::string_view text) {
  return find_ill_formed(text) == text.size();
}

/// The text with every maximal subpart of an ill-formed sequence replaced by U+FFFD.
inline std::string to_lossy(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t good_end = find_ill_formed(text, at);
    out.append(text.substr(at, good_end - at));
    if (good_end == text.size()) break;
    append(out, kReplacement);
    at = good_end + decode(text, good_end).n_bytes;
  }
  return out;
}

}  // namespace plumbline::utf8

namespace plumbline {

/// Turns a stream of bytes into whole characters. What feed and flush appended, taken together, is
/// always utf8::to_lossy of all bytes fed: however the stream was cut, no character is split and
/// none is lost.
class Utf8Stream {
 public:
  enum class Replace : uint8_t { kSubparts, kBytes };
  /// What gets a U+FFFD of its own: each maximal subpart, or each byte of one.
  explicit Utf8Stream(Replace replace = Replace::kSubparts) : replace_(replace) {}

  /// Appends every character that is now complete; keeps back at most three bytes of an unfinished
  /// one.
  void feed(std::string_view bytes, std::string& out) {
    size_t at = 0;
    while (n_pending_ > 0 && at < bytes.size()) {
      pending_[n_pending_] = bytes[at];
      const std::string_view seen(pending_, n_pending_ + 1u);
      const utf8::Decoded next = utf8::decode(seen, 0);
      if (next.form == utf8::Form::kIllFormed) {
        // Only the new byte can be at fault: it starts something else.
        flush(out);
        break;
      }
      ++at;
      ++n_pending_;
      if (next.form == utf8::Form::kWellFormed) {
        out.append(seen);
        n_pending_ = 0;
      }
    }
    while (at < bytes.size()) {
      const size_t good_end = utf8::find_ill_formed(bytes, at);
      out.append(bytes.substr(at, good_end - at));
      at = good_end;
      if (at == bytes.size()) break;
      const utf8::Decoded next = utf8::decode(bytes, at);
      if (next.form == utf8::Form::kTruncated) {
        for (; at < bytes.size(); ++at) pending_[n_pending_++] = bytes[at];
        break;
      }
      replace(next.n_bytes, out);
      at += next.n_bytes;
    }
  }

  /// The stream ends here (stop, cancel, control token): an unfinished character is a subpart.
  void flush(std::string& out) {
    if (n_pending_ > 0) replace(n_pending_, out);
    n_pending_ = 0;
  }

  /// Bytes kept back.
  size_t n_pending_bytes() const { return n_pending_; }

 private:
  void replace(uint32_t n_bytes, std::string& out) const {
    const uint32_t n = replace_ == Replace::kBytes ? n_bytes : 1;
    for (uint32_t i = 0; i < n; ++i) utf8::append(out, utf8::kReplacement);
  }

  char pending_[4] = {};
  uint8_t n_pending_ = 0;
  Replace replace_;
};

}  // namespace plumbline
