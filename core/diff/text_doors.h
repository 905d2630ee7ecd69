// text_doors.h: the exact doors: 00 prompt, 10 tokens, 50 bytes, 60 text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diff/report.h"
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

/// What a user sees of generated ids, without control tokens.
struct ShownText {
  std::string bytes;
  std::string text;  // of whole characters
};
Result<ShownText> show_ids(pipeline::Pipeline& side, std::span<const int32_t> ids);

/// Doors 50 and 60 of the ids that each side generated. Door 50 has their bytes, and where those
/// are equal, what both sides take ids for: which of these are control tokens, and which ids of the
/// vocabulary end a text. Nothing was generated: neither is compared.
struct ShownDoors {
  ShownText a, b;
  ExactDoor bytes, text;
};
Result<ShownDoors> compare_shown(pipeline::Pipeline& a, pipeline::Pipeline& b,
                                 std::span<const int32_t> ids_a, std::span<const int32_t> ids_b);

}  // namespace plumbline::diff
