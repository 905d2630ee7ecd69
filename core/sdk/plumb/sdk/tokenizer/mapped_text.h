// mapped_text.h: a text as the vocabulary sees it, with the source bytes of each of its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/ext/tokenizer.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizer {

/// A view of a text and the way back to the source. Most text needs no change: then there is no
/// map, only a distance from the source's start.
class MappedView {
 public:
  /// The source itself.
  explicit MappedView(std::string_view source) : text_(source) {}
  /// A rewritten text; origins has one entry for each byte.
  MappedView(std::string_view text, const plumb_span* origins) : text_(text), origins_(origins) {}

  std::string_view text() const { return text_; }
  MappedView part(size_t begin, size_t end) const {
    MappedView part = *this;
    part.text_ = text_.substr(begin, end - begin);
    if (origins_ == nullptr) {
      part.source_begin_ += begin;
    } else {
      part.origins_ += begin;
    }
    return part;
  }
  /// The source bytes of text[begin, end), which is not empty.
  plumb_span source(size_t begin, size_t end) const {
    if (origins_ == nullptr) return {source_begin_ + begin, source_begin_ + end};
    return {origins_[begin].begin, origins_[end - 1].end};
  }

 private:
  std::string_view text_;
  uint64_t source_begin_ = 0;
  const plumb_span* origins_ = nullptr;
};

/// A rewritten text. Each byte carries the source range of the unit it came from.
class MappedText {
 public:
  /// Empties the text; from here on, what would make it longer than n_bytes is left out.
  void limit(uint64_t n_bytes) {
    clear();
    most_bytes_ = n_bytes;
  }
  bool is_cut_short() const { return is_cut_short_; }
  void clear() {
    bytes_.clear();
    origins_.clear();
    is_cut_short_ = false;
  }
  void append(std::string_view bytes, plumb_span origin) {
    if (!has_room(bytes.size())) return;
    bytes_.append(bytes);
    origins_.resize(bytes_.size(), origin);
  }
  /// Appends bytes that did not change.
  void append(const MappedView& part) {
    if (!has_room(part.text().size())) return;
    bytes_.append(part.text());
    for (size_t i = 0; i < part.text().size(); ++i) origins_.push_back(part.source(i, i + 1));
  }
  MappedView view() const { return {bytes_, origins_.data()}; }

 private:
  bool has_room(size_t n_bytes) {
    is_cut_short_ |= n_bytes > most_bytes_ - bytes_.size();
    return !is_cut_short_;
  }

  uint64_t most_bytes_ = std::numeric_limits<uint64_t>::max();
  bool is_cut_short_ = false;
  std::string bytes_;
  std::vector<plumb_span> origins_;
};

/// The text with each maximal subpart of ill-formed UTF-8 as U+FFFD: the source itself if there is
/// none.
inline MappedView repair(std::string_view source, MappedText& storage) {
  const MappedView plain(source);
  size_t good_end = utf8::find_ill_formed(source);
  if (good_end == source.size()) return plain;
  std::string replacement;
  utf8::append(replacement, utf8::kReplacement);
  storage.clear();
  for (size_t at = 0; at < source.size(); good_end = utf8::find_ill_formed(source, at)) {
    storage.append(plain.part(at, good_end));
    at = good_end;
    if (at == source.size()) break;
    const uint64_t bad_end = at + utf8::decode(source, at).n_bytes;
    storage.append(replacement, {at, bad_end});
    at = bad_end;
  }
  return storage.view();
}

}  // namespace plumbline::tokenizer
