#include <functional>
#include <regex>

#include "core/diff/text_signatures/templates.h"

namespace plumbline::diff {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

bool opens_block(std::string_view source, size_t at) {
  return source[at] == '{' && at + 1 < source.size() &&
         (source[at + 1] == '%' || source[at + 1] == '#');
}

// A line feed that trim_blocks takes away is there twice: one stays.
std::string without_trim_blocks(std::string_view source) {
  std::string out;
  for (size_t i = 0; i < source.size(); ++i) {
    out += source[i];
    const bool is_end = source[i] == '}' && i > 0 && (source[i - 1] == '%' || source[i - 1] == '#');
    const bool has_sign = i > 1 && (source[i - 2] == '-' || source[i - 2] == '+');
    if (is_end && !has_sign && i + 1 < source.size() && source[i + 1] == '\n') out += '\n';
  }
  return out;
}

// A plus behind the opening sign keeps the blanks in front of it.
std::string without_lstrip_blocks(std::string_view source) {
  std::string out;
  size_t line = 0;  // where the line begins in the source
  for (size_t i = 0; i < source.size(); ++i) {
    out += source[i];
    if (source[i] == '\n') line = i + 1;
    if (i == 0 || !opens_block(source, i - 1) || i == line + 1) continue;
    bool is_first = true;
    for (size_t at = line; at + 1 < i; ++at) is_first &= is_blank(source[at]);
    const bool has_sign = i + 1 < source.size() && (source[i + 1] == '-' || source[i + 1] == '+');
    if (is_first && !has_sign) out += '+';
  }
  return out;
}

std::string without_strip(const std::string& source) {
  static const std::regex filter(R"(\s*\|\s*trim\b)");
  static const std::regex method(R"(\.strip\(\))");
  return std::regex_replace(std::regex_replace(source, filter, ""), method, "");
}

}  // namespace

void add_source_hypotheses(const TemplateEvidence& evidence, TemplateHypotheses& out) {
  const auto add = [&](const char* signature, std::string statement, std::string source) {
    if (source == evidence.template_a) return;
    out.push_back({signature, std::move(statement),
                   [changed = evidence.changed_a, source = std::move(source)] {
                     return changed({.template_text = source});
                   }});
  };
  const std::string& source = evidence.template_a;
  const std::string untrimmed = without_trim_blocks(source);
  const std::string unstripped = without_lstrip_blocks(source);
  add("trim_blocks_off", "B keeps the line feed behind a block, A does not", untrimmed);
  add("lstrip_blocks_off", "B keeps blanks in front of a block, A does not", unstripped);
  if (untrimmed != source && unstripped != source) {
    add("block_white_space_kept", "B keeps line feeds behind and blanks in front of blocks",
        without_lstrip_blocks(untrimmed));
  }
  add("content_not_stripped", "B keeps white space around messages, A strips it",
      without_strip(source));
}

}  // namespace plumbline::diff
