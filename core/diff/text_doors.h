// text_doors.h: the exact doors: 00 prompt, 10 tokens, 50 bytes, 60 text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diff/report.h"
#include "core/pipeline/answer_text.h"
#include "core/pipeline/pipeline.h"
#include "core/pipeline/prompt.h"
#include "core/pipeline/tokenizer.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// Bytes of doors 00, 50 and 60.
ExactDoor compare_bytes(Door door, std::string_view a, std::string_view b);

/// Door 00: bytes, and of rendered prompts who wrote them. WRONG where that differs; UNEXPLAINED
/// where one of the two cannot tell it.
ExactDoor compare_prompts(const pipeline::Prompt& a, const pipeline::Prompt& b);

/// Door 10: ids, with what they stand for in the text.
ExactDoor compare_ids(const pipeline::Encoding& a, const pipeline::Encoding& b,
                      std::string_view text);

/// A door that nobody could compare.
ExactDoor not_compared(Door door, std::string why);

/// A text of at most max_bytes, quoted, with what is no plain ASCII escaped.
std::string quoted(std::string_view bytes, size_t max_bytes = 40);

/// What ended an answer.
struct ShownEnd {
  std::optional<pipeline::Stop::Kind> stop = {};  // empty: an end token
  uint64_t n_cut = 0;  // bytes that the stop took away
  bool operator==(const ShownEnd&) const = default;

  /// Decided by ids, whatever they stand for.
  bool is_by_id() const { return stop != pipeline::Stop::Kind::kText; }
};

/// What a user sees of generated ids, without control tokens. Ids behind the end are not looked at.
struct ShownText {
  size_t n_ids = 0;  // with the one that ended it
  std::string bytes = {};
  std::string text = {};  // of whole characters
  std::optional<ShownEnd> end = {};  // empty: nothing ended it
  bool operator==(const ShownText&) const = default;
};
using Shower = std::function<Result<ShownText>(pipeline::Pipeline&, std::span<const int32_t>)>;
/// As the pipeline generates: the only rule of where an answer ends.
Result<ShownText> show_ids(pipeline::Pipeline& side, std::span<const int32_t> ids);
/// The same under other rules than the config's.
Result<ShownText> show_ids_under(pipeline::Pipeline& side, std::span<const int32_t> ids,
                                 pipeline::AnswerOptions options);
/// "id 2, an end token", "id 7, a stop text of which 3 bytes were cut"; "nothing".
std::string shown_end(const ShownText& shown, std::span<const int32_t> ids);

/// Doors 50 and 60 of the ids that each side generated. Door 50 has their bytes, what ends the
/// answer by ids (end tokens, stop ids, rows of them), and what both sides take ids for: which of
/// these are control tokens, and which ids of the vocabulary end a text. Door 60 has the text, and
/// which stop text ends it. Nothing was generated: neither is compared.
struct ShownDoors {
  ShownText a, b;
  ExactDoor bytes, text;
};
/// show_b: show_ids, unless somebody does something wrong there.
Result<ShownDoors> compare_shown(pipeline::Pipeline& a, pipeline::Pipeline& b,
                                 std::span<const int32_t> ids_a, std::span<const int32_t> ids_b,
                                 const Shower& show_b);

}  // namespace plumbline::diff
