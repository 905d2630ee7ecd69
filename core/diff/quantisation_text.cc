#include "core/diff/quantisation_text.h"

#include <algorithm>
#include <string>

#include "core/diff/comparable.h"

namespace plumbline::diff {
namespace {

// Rows of logits that both sides hold at one time: enough for a head that takes many rows at once.
constexpr uint32_t kRowsAtOnce = 32;

Result<pipeline::Encoding> encode(Side& side, std::string_view text) {
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, side.pipeline().tokenizer());
  PLUMB_ASSIGN(pipeline::Encoding encoding, tokenizer->encode(text, PLUMB_SPECIAL_OFF));
  pipeline::add_special(tokenizer->info(), encoding);
  return encoding;
}

Result<void> check_alike(Side& a, Side& b, const pipeline::Encoding& of_a, std::string_view text) {
  PLUMB_TRY(check_comparable(a, b));
  PLUMB_ASSIGN(const pipeline::Encoding of_b, encode(b, text));
  const auto [in_a, in_b] =
      std::mismatch(of_a.ids.begin(), of_a.ids.end(), of_b.ids.begin(), of_b.ids.end());
  if (in_a == of_a.ids.end() && in_b == of_b.ids.end()) return {};
  return Error{PLUMB_INCOMPATIBLE, "the sides encode the text differently, first at index " +
                                       std::to_string(in_a - of_a.ids.begin()) +
                                       ": plumb diff tells how"};
}

class Reader {
 public:
  Reader(Side& a, Side* b, const TextRequest& request)
      : a_(a), b_(b), request_(request), scorer_(a.pipeline().threads()) {}

  Result<TextScores> read();

 private:
  Result<void> read_chunk(uint32_t chunk, std::span<int32_t> ids, std::span<const int32_t> next);
  Result<std::span<const float>> forward(Side& side, const char* name, std::span<const int32_t> ids,
                                         bool all_rows);

  Side& a_;
  Side* b_;
  const TextRequest& request_;
  RowsScorer scorer_;
  std::vector<float> of_a_;
  std::vector<Scored> rows_;
};

Result<TextScores> Reader::read() {
  const uint32_t n = request_.context;
  if (n < 4 || n % 2 != 0)
    return Error{PLUMB_INVALID_ARGUMENT,
                 "context " + std::to_string(n) + ": expected an even number from 4 on"};
  PLUMB_ASSIGN(const pipeline::Encoding encoding, encode(a_, request_.text));
  if (b_ != nullptr) PLUMB_TRY(check_alike(a_, *b_, encoding, request_.text));
  const size_t there = encoding.ids.size() / n;
  const auto n_chunks = static_cast<uint32_t>(
      request_.n_chunks == 0 ? there : std::min<size_t>(there, request_.n_chunks));
  if (n_chunks == 0) {
    return Error{PLUMB_INVALID_ARGUMENT, "the text has " + std::to_string(encoding.ids.size()) +
                                             " ids, expected at least the " + std::to_string(n) +
                                             " of one chunk"};
  }
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, a_.pipeline().tokenizer());
  uint64_t n_bytes = 0;
  for (uint32_t chunk = 0; chunk < n_chunks; ++chunk) {
    const auto first = encoding.ids.begin() + std::ptrdiff_t{chunk} * n;
    std::vector<int32_t> ids(first, first + n);
    const std::vector<int32_t> next(ids.begin() + n / 2 + 1, ids.end());
    for (size_t at = size_t{chunk} * n + n / 2 + 1; at < size_t{chunk + 1} * n; ++at)
      n_bytes += encoding.spans[at].end - encoding.spans[at].begin;
    if (tokenizer->info().add_bos != 0) ids[0] = tokenizer->info().bos_id;
    PLUMB_TRY(read_chunk(chunk, ids, next));
    if (request_.on_chunk) request_.on_chunk(chunk + 1, n_chunks, rows_);
  }
  return summarise(rows_, b_ != nullptr, n, n_bytes);
}

Result<void> Reader::read_chunk(uint32_t chunk, std::span<int32_t> ids,
                                std::span<const int32_t> next) {
  PLUMB_TRY(a_.restart());
  if (b_ != nullptr) PLUMB_TRY(b_->restart());
  const size_t half = ids.size() / 2;
  PLUMB_TRY(forward(a_, "A", ids.first(half), false));
  if (b_ != nullptr) PLUMB_TRY(forward(*b_, "B", ids.first(half), false));
  // The last id has nothing behind it.
  for (size_t at = half; at + 1 < ids.size(); at += kRowsAtOnce) {
    const auto some = ids.subspan(at, std::min<size_t>(kRowsAtOnce, ids.size() - 1 - at));
    PLUMB_ASSIGN(const auto of_a, forward(a_, "A", some, true));
    of_a_.assign(of_a.begin(), of_a.end());
    std::span<const float> of_b;
    if (b_ != nullptr) {
      PLUMB_ASSIGN(of_b, forward(*b_, "B", some, true));
    }
    auto scored = scorer_.score(of_a_, of_b, next.subspan(at - half, some.size()), chunk, rows_);
    if (!scored)
      return std::move(scored).error().at("chunk " + std::to_string(chunk) + ", ids from " +
                                          std::to_string(at));
  }
  return {};
}

Result<std::span<const float>> Reader::forward(Side& side, const char* name,
                                               std::span<const int32_t> ids, bool all_rows) {
  ForwardRequest wanted;
  wanted.all_rows = all_rows;
  wanted.cancel = request_.cancel;
  auto logits = side.forward(ids, wanted);
  if (!logits) return of_side(name, std::move(logits).error());
  return logits;
}

}  // namespace

Result<TextScores> score_text(Side& a, Side* b, const TextRequest& request) {
  return Reader(a, b, request).read();
}

}  // namespace plumbline::diff
