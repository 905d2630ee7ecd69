#include "core/pipeline/prompt.h"

#include <algorithm>
#include <set>

#include "plumb/sdk/white_space.h"

namespace plumbline::pipeline {
namespace {

constexpr uint32_t kLiteral = PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_UNKNOWN | PLUMB_TOKEN_USER_DEFINED;

bool has(std::span<const uint64_t> bits, int32_t id) {
  const auto at = static_cast<uint32_t>(id);
  return id >= 0 && at / 64 < bits.size() && (bits[at / 64] >> (at % 64) & 1) != 0;
}

// Did a stranger write a visible byte of this span? White space around a literal that strips it is
// part of the literal's span.
bool is_strangers(const Prompt& prompt, plumb_span span) {
  const auto first = std::ranges::partition_point(
      *prompt.untrusted, [&](plumb_span range) { return range.end <= span.begin; });
  for (auto range = first; range != prompt.untrusted->end() && range->begin < span.end; ++range) {
    const uint64_t begin = std::max(range->begin, span.begin);
    const uint64_t end = std::min(range->end, span.end);
    if (!is_white_space(std::string_view(prompt.bytes).substr(begin, end - begin))) return true;
  }
  return false;
}

std::string quoted(std::string_view text) {
  constexpr size_t kShownBytesMax = 40;
  std::string out = "\"";
  for (const char c : text.substr(0, kShownBytesMax)) {
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + (text.size() > kShownBytesMax ? "...\"" : "\"");
}

RoleForgery unprotected(std::string reason) {
  return {false, std::move(reason)};
}

}  // namespace

Result<std::vector<uint64_t>> control_set(const Tokenizer& tokenizer,
                                          std::string_view template_source,
                                          std::span<const std::string> literals) {
  const uint32_t n_vocab = tokenizer.info().n_vocab;
  std::vector<uint64_t> bits((uint64_t{n_vocab} + 63) / 64, 0);
  std::set<std::string_view> missing(literals.begin(), literals.end());
  for (uint32_t at = 0; at < n_vocab; ++at) {
    const auto id = static_cast<int32_t>(at);
    const uint32_t attributes = tokenizer.attributes(id);
    if ((attributes & kLiteral) == 0) continue;
    PLUMB_ASSIGN(const std::string_view literal, tokenizer.piece(id, false));
    const bool is_listed = missing.erase(literal) > 0;
    const bool is_special = (attributes & (PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_UNKNOWN)) != 0;
    const bool is_in_template =
        !is_white_space(literal) && template_source.find(literal) != std::string_view::npos;
    if (is_special || is_listed || is_in_template) bits[at / 64] |= uint64_t{1} << (at % 64);
  }
  if (missing.empty()) return bits;
  return Error{PLUMB_INVALID_CONFIG, "tokenizer.control_literals: " + quoted(*missing.begin()) +
                                         " is no added token of the vocabulary"};
}

Result<Encoding> encode_rendered(const Tokenizer& tokenizer, const Prompt& prompt,
                                 std::span<const uint64_t> control_bits) {
  if (!prompt.untrusted) return tokenizer.encode(prompt.bytes, PLUMB_SPECIAL_PARSE);
  PLUMB_ASSIGN(Encoding encoding, tokenizer.encode(prompt.bytes, PLUMB_SPECIAL_PARSE,
                                                   {*prompt.untrusted, control_bits}));
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const int32_t id = encoding.ids[i];
    // What no token stands for becomes the unknown one, whoever wrote it.
    if (!has(control_bits, id) || id == tokenizer.info().unknown_id) continue;
    if (is_strangers(prompt, encoding.spans[i])) {
      return Error{PLUMB_INTERNAL, tokenizer.id() + ": token " + std::to_string(id) +
                                       " out of bytes " + std::to_string(encoding.spans[i].begin) +
                                       " to " + std::to_string(encoding.spans[i].end) +
                                       ", which strangers wrote, although it was barred"};
    }
  }
  return encoding;
}

Result<RoleForgery> judge_probe(const Tokenizer& tokenizer, std::string_view rendered,
                                std::span<const uint64_t> control_bits) {
  std::vector<plumb_span> gaps;  // behind each probe text
  size_t at = 0;
  for (const std::string_view text : kProbeTexts) {
    const size_t found = rendered.find(text, at);
    if (found == std::string_view::npos)
      return unprotected("the template leaves out " + quoted(text) + " of a probe conversation");
    if (!gaps.empty()) gaps.back().end = found;
    at = found + text.size();
    gaps.push_back({at, rendered.size()});
  }
  PLUMB_ASSIGN(const Encoding encoding, tokenizer.encode(rendered, PLUMB_SPECIAL_PARSE));
  for (const plumb_span gap : gaps) {
    bool is_marked = false;
    for (size_t i = 0; i < encoding.ids.size() && !is_marked; ++i) {
      const plumb_span span = encoding.spans[i];
      is_marked = has(control_bits, encoding.ids[i]) && gap.begin <= span.begin &&
                  span.end <= gap.end && span.begin < span.end;
    }
    if (!is_marked) {
      const auto between = rendered.substr(gap.begin, gap.end - gap.begin);
      return unprotected("turns are told apart by text that anyone can write: " + quoted(between));
    }
  }
  return RoleForgery{true, {}};
}

}  // namespace plumbline::pipeline
