// encoder.h: the outer walk that every tokenizer shares (broken UTF-8, added literals, the caller's
// buffers), and the C table for a C++ tokenizer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "plumb/ext/tokenizer.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/tokenizer/barred.h"
#include "plumb/sdk/tokenizer/id_cache.h"
#include "plumb/sdk/tokenizer/literal_matcher.h"
#include "plumb/sdk/tokenizer/mapped_text.h"
#include "plumb/sdk/tokenizer/merge.h"
#include "plumb/sdk/tokenizer/vocabulary.h"

namespace plumbline::tokenizer {

/// Writes into the caller's buffers, and goes on counting when they are full.
class IdWriter {
 public:
  explicit IdWriter(plumb_encode_result& result) : result_(result) { result_.n = 0; }
  void put(int32_t id, plumb_span span) {
    if (result_.n < result_.capacity) {
      result_.ids[result_.n] = id;
      if (result_.spans != nullptr) result_.spans[result_.n] = span;
    }
    ++result_.n;
  }
  bool wants_spans() const { return result_.spans != nullptr; }
  /// Where no spans are wanted.
  void put(std::span<const int32_t> ids) {
    if (result_.n + ids.size() <= result_.capacity) {
      std::copy(ids.begin(), ids.end(), result_.ids + result_.n);
    }
    result_.n += ids.size();
  }
  /// The same for the first n of kMost ids that can all be read: a copy of a fixed size is faster.
  template <size_t kMost>
  void put(const int32_t* ids, size_t n) {
    if (result_.n + kMost > result_.capacity) return put(std::span(ids, n));
    std::memcpy(result_.ids + result_.n, ids, kMost * sizeof(int32_t));
    result_.n += n;
  }

 private:
  plumb_encode_result& result_;
};

/// The ids of words seen lately, and room to find those of others.
struct WordMemory {
  IdCache<16, 4, 1 << 15> short_words;
  IdCache<32, 8, 1 << 12> longer_words;
  std::vector<int32_t> ids;  // of one word
  Merger merger;
};

/// Working memory of one encode call, kept for the next one.
struct Scratch {
  MappedText repaired;
  MappedText rewritten;
  MappedText prefixed;
  std::vector<LiteralMatcher::Match> matches;
  std::vector<Piece> pieces;
  Merger merger;
  WordCache cache;
};

/// As many scratches of type S as there were calls at the same time.
template <typename S>
class ScratchPool {
 public:
  std::unique_ptr<S> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<S>();
    std::unique_ptr<S> scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
  }
  void give(std::unique_ptr<S> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<S>> free_;
};

/// Positions inside a text are 32 bits wide.
constexpr uint64_t kLongestTextBytes = uint64_t{1} << 30;

/// What an encode request forbids: ids that no stranger's bytes may become.
class Bars {
 public:
  explicit Bars(const plumb_encode_request& request) {
    if (!PLUMB_HAS(&request, plumb_encode_request, barred_bits)) return;
    if (request.barred_bits == nullptr) return;
    bits_ = request.barred_bits;
    untrusted_ = {request.untrusted, request.n_untrusted};
  }
  bool forbid(int32_t id, plumb_span source) const {
    if (untrusted_.empty() || id < 0 || (bits_[id / 64] >> (id % 64) & 1) == 0) return false;
    const auto first = std::ranges::partition_point(
        untrusted_, [&](plumb_span range) { return range.end <= source.begin; });
    return first != untrusted_.end() && first->begin < source.end;
  }
  bool is_empty() const { return untrusted_.empty(); }
  const uint64_t* bits() const { return bits_; }

 private:
  const uint64_t* bits_ = nullptr;
  std::span<const plumb_span> untrusted_;
};

/// Calls on_match(match), which returns Result<void>, for the literals in a text, leftmost and
/// longest first. A literal for which is_barred(match) is true is as if it were not there: shorter
/// ones at its place and those that begin inside it are looked for.
template <typename IsBarred, typename OnMatch>
Result<void> walk_literals(const LiteralMatcher& literals, std::string_view text,
                           std::vector<LiteralMatcher::Match>& matches, IsBarred&& is_barred,
                           OnMatch&& on_match) {
  matches.clear();
  if (!literals.is_empty()) literals.find_backward(text, matches);
  size_t at = 0;
  for (auto found = matches.rbegin(); found != matches.rend(); ++found) {
    if (found->begin < at) continue;
    LiteralMatcher::Match match = *found;
    bool stays = !is_barred(match);
    while (!stays && literals.shorten(match)) stays = !is_barred(match);
    if (!stays) continue;
    at = match.end;
    PLUMB_TRY(on_match(match));
  }
  return {};
}

/// Cuts a text at its literals. Calls on_id(id, span) for a literal and on_text(part), which
/// returns Result<void>, for what lies between. A special literal under PLUMB_SPECIAL_OFF is
/// skipped as a whole: no shorter literal is looked for inside it. Source  tokenizers,
/// added_vocabulary.rs, find_matches: the same rule with encode_special_tokens.
template <typename OnId, typename OnText>
Result<void> cut_at_literals(const Vocabulary& vocabulary, const LiteralMatcher& literals,
                             const MappedView& view, bool parses_special, const Bars& bars,
                             std::vector<LiteralMatcher::Match>& matches, OnId&& on_id,
                             OnText&& on_text) {
  using Match = LiteralMatcher::Match;
  size_t text_begin = 0;
  const auto is_barred = [&](const Match& match) {
    return bars.forbid(match.id, view.source(match.begin, match.end));
  };
  const auto on_match = [&](const Match& match) -> Result<void> {
    if (!parses_special && vocabulary.is_special(match.id)) return {};
    if (match.begin > text_begin) PLUMB_TRY(on_text(view.part(text_begin, match.begin)));
    on_id(match.id, view.source(match.begin, match.end));
    text_begin = match.end;
    return {};
  };
  PLUMB_TRY(walk_literals(literals, view.text(), matches, is_barred, on_match));
  if (view.text().size() == text_begin) return {};
  return on_text(view.part(text_begin, view.text().size()));
}

/// The pieces of text[begin, end), a word: what encode(word, barred) leaves in `fresh`, now or when
/// the word was seen last. If the bars forbid one of them, the barred tokens are as if they were
/// not there. Hold until the next call.
template <typename Encode>
Result<std::span<const Piece>> pieces_of(const MappedView& text, size_t begin, size_t end,
                                         const Bars& bars, WordCache& cache,
                                         const std::vector<Piece>& fresh, Encode&& encode) {
  const std::string_view word = text.text().substr(begin, end - begin);
  size_t n_pieces = 0;
  const Piece* pieces = cache.find(word, &n_pieces);
  if (pieces == nullptr) {
    PLUMB_TRY(encode(word, Barred()));
    cache.store(word, fresh);
    pieces = fresh.data();
    n_pieces = fresh.size();
  }
  const auto is_forbidden = [&](const Piece& piece) {
    return bars.forbid(piece.id, text.source(begin + piece.begin, begin + piece.end));
  };
  if (!bars.is_empty() && std::any_of(pieces, pieces + n_pieces, is_forbidden)) {
    PLUMB_TRY(encode(word, Barred(bars.bits())));
    return std::span<const Piece>(fresh);
  }
  return std::span(pieces, n_pieces);
}

/// Adds every literal that is matched before the vocabulary's own rules: control, unknown,
/// user-defined. as_matched(token text) is the literal's form in the texts that will be cut. One
/// that is no UTF-8 is left out: it is in no repaired text as such, only in the middle of a
/// character.
template <typename AsMatched>
Result<void> add_literals(const Vocabulary& vocabulary, const AsMatched& as_matched,
                          LiteralMatcher& literals) {
  for (int32_t id = 0; id < static_cast<int32_t>(vocabulary.tokens.size()); ++id) {
    if (!vocabulary.is(id, PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_UNKNOWN | PLUMB_TOKEN_USER_DEFINED))
      continue;
    if (vocabulary.text(id).empty() || !utf8::is_well_formed(vocabulary.text(id))) continue;
    if (const int32_t first = literals.add(as_matched(vocabulary.text(id)), id); first >= 0) {
      return Error{PLUMB_CORRUPT, "tokenizer.ggml.tokens: tokens " + std::to_string(first) +
                                      " and " + std::to_string(id) + " are the same literal"};
    }
  }
  literals.build();
  return {};
}

/// The C table of a class T with
///   using Scratch = ...;  // working memory of one encode call, kept for the next one
///   static Result<void> recognise(const MetadataReader&);
///   static Result<std::unique_ptr<T>> create(const MetadataReader&);
///   const Vocabulary& vocabulary() const;
///   Result<void> encode(const plumb_encode_request&, Scratch&, IdWriter&) const;
///   std::string_view piece(int32_t id, bool is_first) const;
template <typename T>
class TokenizerTable {
 public:
  static const plumb_tokenizer* get() {
    static constexpr plumb_tokenizer kTable = {
        sizeof(plumb_tokenizer), 0, recognise, create, destroy, info, attributes, encode, piece};
    return &kTable;
  }

 private:
  struct Instance {
    std::unique_ptr<T> tokenizer;
    ScratchPool<typename T::Scratch> pool;
  };

  static plumb_status recognise(const plumb_metadata* metadata, plumb_error* error) {
    return guarded(error, [&] {
      if (metadata == nullptr) return fail(error, PLUMB_INVALID_ARGUMENT, "metadata is null");
      const Result<void> answer = T::recognise(MetadataReader(*metadata));
      return answer ? PLUMB_OK : fail(error, answer.error());
    });
  }

  static plumb_status create(const plumb_host*, const plumb_metadata* metadata,
                             plumb_str options_json, void** self, plumb_error* error) {
    return guarded(error, [&] {
      if (metadata == nullptr || self == nullptr) {
        return fail(error, PLUMB_INVALID_ARGUMENT, "metadata or self is null");
      }
      const std::string_view options = to_view(options_json);
      if (!options.empty() && options != "{}" && options != "null") {
        return fail(error, PLUMB_INVALID_CONFIG, "this tokenizer has no options");
      }
      Result<std::unique_ptr<T>> made = T::create(MetadataReader(*metadata));
      if (!made) return fail(error, made.error());
      auto instance = std::make_unique<Instance>();
      instance->tokenizer = *std::move(made);
      *self = instance.release();
      return plumb_status{PLUMB_OK};
    });
  }

  static void destroy(void* self) { delete static_cast<Instance*>(self); }

  static const T& tokenizer_of(void* self) { return *static_cast<Instance*>(self)->tokenizer; }

  static plumb_status info(void* self, plumb_tokenizer_info* out, plumb_error* error) {
    if (out == nullptr || !PLUMB_HAS(out, plumb_tokenizer_info, add_eos)) {
      return fail(error, PLUMB_INVALID_ARGUMENT, "info is null or too short");
    }
    plumb_tokenizer_info info = tokenizer_of(self).vocabulary().info;
    info.struct_bytes = out->struct_bytes;
    std::memcpy(out, &info, std::min<size_t>(out->struct_bytes, sizeof info));
    return PLUMB_OK;
  }

  static uint32_t attributes(void* self, int32_t id) {
    const Vocabulary& vocabulary = tokenizer_of(self).vocabulary();
    return vocabulary.contains(id) ? vocabulary.attributes[id] : PLUMB_TOKEN_UNUSED;
  }

  static plumb_status encode(void* self, const plumb_encode_request* request,
                             plumb_encode_result* result, plumb_error* error) {
    return guarded(error, [&] {
      if (request == nullptr || !PLUMB_HAS(request, plumb_encode_request, text) ||
          result == nullptr || !PLUMB_HAS(result, plumb_encode_result, n)) {
        return fail(error, PLUMB_INVALID_ARGUMENT, "request or result is null or too short");
      }
      if (request->special > PLUMB_SPECIAL_PARSE) {
        return failf(error, PLUMB_INVALID_ARGUMENT, "special is %u, 0 (off) or 1 (parse) expected",
                     request->special);
      }
      if (request->text.bytes > kLongestTextBytes ||
          (request->text.bytes > 0 && request->text.data == nullptr)) {
        return failf(error, PLUMB_INVALID_ARGUMENT, "text of %llu bytes, at most %llu expected",
                     static_cast<unsigned long long>(request->text.bytes),
                     static_cast<unsigned long long>(kLongestTextBytes));
      }
      if (PLUMB_HAS(request, plumb_encode_request, barred_bits) && request->n_untrusted > 0 &&
          request->untrusted == nullptr) {
        return fail(error, PLUMB_INVALID_ARGUMENT, "untrusted is null with n_untrusted");
      }
      if (result->capacity > 0 && result->ids == nullptr) {
        return fail(error, PLUMB_INVALID_ARGUMENT, "ids is null with a capacity");
      }
      Instance& instance = *static_cast<Instance*>(self);
      std::unique_ptr<typename T::Scratch> scratch = instance.pool.take();
      IdWriter writer(*result);
      const Result<void> encoded = instance.tokenizer->encode(*request, *scratch, writer);
      instance.pool.give(std::move(scratch));
      if (!encoded) return fail(error, encoded.error());
      return plumb_status{result->n <= result->capacity ? PLUMB_OK : PLUMB_MORE_SPACE};
    });
  }

  static plumb_status piece(void* self, int32_t id, uint32_t is_first, plumb_bytes* bytes,
                            plumb_error* error) {
    const T& tokenizer = tokenizer_of(self);
    if (bytes == nullptr) return fail(error, PLUMB_INVALID_ARGUMENT, "bytes is null");
    if (!tokenizer.vocabulary().contains(id)) {
      return failf(error, PLUMB_INVALID_ARGUMENT, "token %d, 0 to %u expected", id,
                   tokenizer.vocabulary().info.n_vocab - 1);
    }
    const std::string_view view = tokenizer.piece(id, is_first != 0);
    *bytes = {reinterpret_cast<const uint8_t*>(view.data()), view.size()};
    return PLUMB_OK;
  }
};

}  // namespace plumbline::tokenizer
