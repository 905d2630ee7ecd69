#include <algorithm>
#include <set>

#include "core/diff/text_signatures/tokens.h"
#include "plumb/sdk/id_bits.h"
#include "plumb/sdk/utf8.h"
#include "plumb/sdk/white_space.h"

namespace plumbline::diff {
namespace {

using pipeline::Encoding;
using pipeline::Prompt;

constexpr uint32_t kLiteral = PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_USER_DEFINED;

// A hypothesis about how A's tokenizer is asked, below the prompt's own rules.
void add_asked(const TokenEvidence& evidence, std::string signature, std::string statement,
               std::function<Result<Encoding>(const pipeline::Tokenizer&, std::string_view)> ask,
               TokenHypotheses& out) {
  const pipeline::Tokenizer* tokenizer = evidence.tokenizer_a;
  out.push_back({std::move(signature), std::move(statement), [tokenizer, ask] {
                   return Result<TokenSide>(
                       [tokenizer, ask](const Prompt& prompt) -> Result<Encoding> {
                         PLUMB_ASSIGN(Encoding encoding, ask(*tokenizer, prompt.bytes));
                         pipeline::begin_prompt(tokenizer->info(), encoding);
                         return encoding;
                       });
                 }});
}

// The text between the borders of the untrusted ranges, rewritten part by part.
Prompt rewritten(const Prompt& prompt,
                 const std::function<std::string(std::string_view)>& rewrite) {
  Prompt out{.bytes = {}, .is_rendered = prompt.is_rendered, .untrusted = {}};
  if (prompt.untrusted) out.untrusted.emplace();
  size_t at = 0;
  const auto copy_to = [&](size_t end) {
    out.bytes += rewrite(std::string_view(prompt.bytes).substr(at, end - at));
    at = end;
  };
  if (prompt.untrusted) {
    for (const plumb_span range : *prompt.untrusted) {
      copy_to(range.begin);
      const uint64_t begin = out.bytes.size();
      copy_to(range.end);
      out.untrusted->push_back({begin, out.bytes.size()});
    }
  }
  copy_to(prompt.bytes.size());
  return out;
}

std::string with_line_feeds(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      out += '\n';
    }
  }
  return out;
}

std::string with_carriage_returns(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) out += '\r';
    out += text[i];
  }
  return out;
}

}  // namespace

void add_literal_hypotheses(const TokenEvidence& evidence, TokenHypotheses& out) {
  using pipeline::Tokenizer;
  add_asked(
      evidence, "added_token_split", "B reads literals of control tokens as text",
      [](const Tokenizer& tokenizer, std::string_view text) {
        return tokenizer.encode(text, PLUMB_SPECIAL_OFF);
      },
      out);
  add_asked(
      evidence, "special_parsed_as_control",
      "B makes control tokens of literals that A takes for text",
      [](const Tokenizer& tokenizer, std::string_view text) {
        return tokenizer.encode(text, PLUMB_SPECIAL_PARSE);
      },
      out);
  const auto found = evidence.tokenizer_a->encode(evidence.prompt.bytes, PLUMB_SPECIAL_PARSE);
  if (!found) return;
  std::set<int32_t> literals;
  for (const int32_t id : found->ids) {
    if ((evidence.tokenizer_a->attributes(id) & kLiteral) != 0) literals.insert(id);
  }
  for (const int32_t literal : literals) {
    const auto piece = evidence.tokenizer_a->piece(literal, false);
    const std::string shown = piece ? std::string(*piece) : std::to_string(literal);
    add_asked(
        evidence, "added_token_split", "B reads the added token \"" + shown + "\" as text",
        [literal](const Tokenizer& tokenizer, std::string_view text) {
          std::vector<uint64_t> bits(id_words(tokenizer.info().n_vocab), 0);
          add_id(bits, literal);
          const plumb_span all{0, text.size()};
          return tokenizer.encode(text, PLUMB_SPECIAL_PARSE, {{&all, 1}, bits});
        },
        out);
  }
}

void add_rewriting_hypotheses(const TokenEvidence& evidence, TokenHypotheses& out) {
  const auto add = [&](std::string signature, std::string statement,
                       std::function<std::string(std::string_view)> rewrite) {
    out.push_back({std::move(signature), std::move(statement), [a = evidence.a, rewrite] {
                     return Result<TokenSide>([a, rewrite](const Prompt& prompt) {
                       return a(rewritten(prompt, rewrite));
                     });
                   }});
  };
  add("line_ends_changed", "B reads \\r\\n and \\r as \\n", with_line_feeds);
  add("line_ends_changed", "B reads \\n as \\r\\n", with_carriage_returns);
}

}  // namespace plumbline::diff
