#include <cctype>

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
  size_t n_blanks = 0;  // in front of here, since the line began
  bool is_blank_line = true;  // so far
  for (size_t i = 0; i < source.size(); ++i) {
    out += source[i];
    if (is_blank_line && n_blanks > 0 && opens_block(source, i)) {
      const bool has_sign = i + 2 < source.size() && (source[i + 2] == '-' || source[i + 2] == '+');
      out += source[++i];
      if (!has_sign) out += '+';
    }
    is_blank_line = source[i] == '\n' || (is_blank_line && is_blank(source[i]));
    n_blanks = source[i] == '\n' ? 0 : n_blanks + 1;
  }
  return out;
}

constexpr std::string_view kSpaces = " \t\n\v\f\r";

/// Behind the filter `trim` whose bar stands at `at`; `at` itself if it is another.
size_t end_of_trim(std::string_view source, size_t at) {
  constexpr std::string_view kName = "trim";
  const size_t name = source.find_first_not_of(kSpaces, at + 1);
  if (name == std::string_view::npos || source.substr(name, kName.size()) != kName) return at;
  const size_t end = name + kName.size();
  const bool goes_on =
      end < source.size() &&
      (std::isalnum(static_cast<unsigned char>(source[end])) != 0 || source[end] == '_');
  return goes_on ? at : end;
}

// Neither the filter trim, with the white space before it, nor the method strip.
std::string without_strip(std::string_view source) {
  constexpr std::string_view kMethod = ".strip()";
  std::string out;
  for (size_t at = 0; at < source.size();) {
    const size_t end = source[at] == '|' ? end_of_trim(source, at) : at;
    if (end != at) {
      out.resize(out.find_last_not_of(kSpaces) + 1);
      at = end;
    } else if (source.substr(at, kMethod.size()) == kMethod) {
      at += kMethod.size();
    } else {
      out += source[at++];
    }
  }
  return out;
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
  const std::string_view source = evidence.template_a;
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
