#include "core/pipeline/prompt.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/pipeline/added_literal.h"
#include "plumb/sdk/id_bits.h"
#include "plumb/sdk/white_space.h"

namespace plumbline::pipeline {
namespace {

std::string_view cut(std::string_view text, plumb_span span) {
  return text.substr(span.begin, span.end - span.begin);
}

// Is it an added literal that can be seen? span: what became it.
bool is_literal(const Tokenizer& tokenizer, std::string_view text, int32_t id, plumb_span span) {
  return (tokenizer.attributes(id) & kAddedLiteral) != 0 && id != tokenizer.info().unknown_id &&
         !is_white_space(cut(text, span));
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

// Bars the literals that the template wrote into a prompt, whole or of parts. Are there new ones?
bool bar_written(const Tokenizer& tokenizer, const Prompt& prompt, const Encoding& encoding,
                 std::vector<uint64_t>& bits) {
  bool is_new = false;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const int32_t id = encoding.ids[i];
    const plumb_span span = encoding.spans[i];
    if (has_id(bits, id) || !is_literal(tokenizer, prompt.bytes, id, span)) continue;
    if (is_strangers(prompt, span)) continue;
    add_id(bits, id);
    is_new = true;
  }
  return is_new;
}

// Bars the literals that stand in the template's source.
void bar_source(const Tokenizer& tokenizer, std::string_view source, std::vector<uint64_t>& bits) {
  if (const auto encoding = tokenizer.encode(source, PLUMB_SPECIAL_PARSE)) {
    for (size_t i = 0; i < encoding->ids.size(); ++i) {
      const int32_t id = encoding->ids[i];
      if (is_literal(tokenizer, source, id, encoding->spans[i])) add_id(bits, id);
    }
    return;
  }
  // A vocabulary that cannot read the source does not tell which ones: all of them.
  for (uint32_t at = 0; at < tokenizer.info().n_vocab; ++at) {
    const auto id = static_cast<int32_t>(at);
    if ((tokenizer.attributes(id) & kAddedLiteral) == 0) continue;
    const auto literal = tokenizer.piece(id, true);
    if (!literal || !is_white_space(*literal)) add_id(bits, id);
  }
}

// The id of a whole text; -1 if it is no added token.
int32_t literal_id(const Tokenizer& tokenizer, std::string_view literal) {
  const auto encoding = tokenizer.encode(literal, PLUMB_SPECIAL_PARSE);
  if (!encoding) return -1;
  for (size_t i = 0; i < encoding->ids.size(); ++i) {
    const int32_t id = encoding->ids[i];
    const bool is_added = (tokenizer.attributes(id) & kAddedLiteral) != 0;
    if (!is_added || cut(literal, encoding->spans[i]).size() != literal.size()) continue;
    if (id != tokenizer.info().unknown_id) return id;
    // It also stands for every text that the vocabulary does not have.
    const auto piece = tokenizer.piece(id, true);
    if (piece && *piece == literal) return id;
  }
  return -1;
}

// The signs that a literal opens and closes with: <| and |>.
struct Shape {
  std::string_view opening;
  std::string_view closing;
  bool operator==(const Shape&) const = default;
};

Shape shape(std::string_view literal) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  const auto is_sign = [](unsigned char c) { return std::ispunct(c) != 0; };
  const auto begin = std::find_if_not(literal.begin(), literal.end(), is_space);
  const auto end = std::find_if_not(literal.rbegin(), literal.rend(), is_space).base();
  if (begin >= end) return {};
  const auto opening_end = std::find_if_not(begin, end, is_sign);
  const auto closing_begin =
      std::find_if_not(literal.rbegin() + (literal.end() - end), literal.rend(), is_sign).base();
  return {{begin, opening_end}, {std::min(closing_begin, end), end}};
}

RoleForgery unprotected(std::string reason) {
  return {false, std::move(reason)};
}

// Where a template joins its markers of parts, those that no probe showed look like the others.
Result<RoleForgery> judge_joined(const Tokenizer& tokenizer, std::span<const Shape> markers,
                                 std::span<const uint64_t> control_bits) {
  for (uint32_t at = 0; at < tokenizer.info().n_vocab && !markers.empty(); ++at) {
    const auto id = static_cast<int32_t>(at);
    if ((tokenizer.attributes(id) & kAddedLiteral) == 0 || has_id(control_bits, id)) continue;
    PLUMB_ASSIGN(const std::string_view literal, tokenizer.piece(id, true));
    if (is_white_space(literal) || std::ranges::find(markers, shape(literal)) == markers.end())
      continue;
    return unprotected("anyone can write " + quoted(literal) +
                       ", which looks like the template's own markers: list it in "
                       "tokenizer.control_literals if it is one");
  }
  return RoleForgery{true, {}};
}

}  // namespace

Result<std::vector<uint64_t>> control_set(const Tokenizer& tokenizer,
                                          std::string_view template_source,
                                          std::span<const std::string> literals) {
  const uint32_t n_vocab = tokenizer.info().n_vocab;
  std::vector<uint64_t> bits(id_words(n_vocab), 0);
  for (uint32_t at = 0; at < n_vocab; ++at) {
    const auto id = static_cast<int32_t>(at);
    if ((tokenizer.attributes(id) & (PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_UNKNOWN)) != 0)
      add_id(bits, id);
  }
  bar_source(tokenizer, template_source, bits);
  for (const std::string& literal : literals) {
    const int32_t id = literal_id(tokenizer, literal);
    if (id < 0) {
      return Error{PLUMB_INVALID_CONFIG, "tokenizer.control_literals: " + quoted(literal) +
                                             " is no added token of the vocabulary"};
    }
    add_id(bits, id);
  }
  return bits;
}

Result<void> bar_written(const Tokenizer& tokenizer, const Prompt& prompt,
                         std::vector<uint64_t>& control_bits) {
  PLUMB_ASSIGN(const Encoding encoding, tokenizer.encode(prompt.bytes, PLUMB_SPECIAL_PARSE));
  bar_written(tokenizer, prompt, encoding, control_bits);
  return {};
}

Result<Encoding> encode_rendered(const Tokenizer& tokenizer, const Prompt& prompt,
                                 std::span<const uint64_t> control_bits) {
  if (!prompt.untrusted) return tokenizer.encode(prompt.bytes, PLUMB_SPECIAL_PARSE);
  std::vector<uint64_t> barred(control_bits.begin(), control_bits.end());
  const auto encode = [&] {
    return tokenizer.encode(prompt.bytes, PLUMB_SPECIAL_PARSE, {*prompt.untrusted, barred});
  };
  PLUMB_ASSIGN(Encoding encoding, encode());
  if (bar_written(tokenizer, prompt, encoding, barred)) {
    PLUMB_ASSIGN(encoding, encode());
  }
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const int32_t id = encoding.ids[i];
    // What no token stands for becomes the unknown one, whoever wrote it.
    if (!has_id(barred, id) || id == tokenizer.info().unknown_id) continue;
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
  std::vector<Shape> added;  // the markers among the added literals that are no special tokens
  for (const plumb_span gap : gaps) {
    bool is_marked = false;
    for (size_t i = 0; i < encoding.ids.size(); ++i) {
      const int32_t id = encoding.ids[i];
      const plumb_span span = encoding.spans[i];
      const bool is_inside = gap.begin <= span.begin && span.end <= gap.end;
      if (!has_id(control_bits, id) || !is_inside || span.begin == span.end) continue;
      is_marked = true;
      const Shape marker = shape(cut(rendered, span));
      const bool is_special = (tokenizer.attributes(id) & PLUMB_TOKEN_CONTROL) != 0;
      if (!is_special && marker != Shape()) added.push_back(marker);
    }
    if (!is_marked) {
      return unprotected("turns are told apart by text that anyone can write: " +
                         quoted(cut(rendered, gap)));
    }
  }
  return judge_joined(tokenizer, added, control_bits);
}

}  // namespace plumbline::pipeline
