#include <regex>

#include "tests/support/mutants.h"

namespace plumbline::test {
namespace {

using Source = std::optional<std::string>;

/// The source with each match replaced; nothing if there is none.
Source replaced(const std::string& source, const char* pattern, const std::string& with) {
  std::string out = std::regex_replace(source, std::regex(pattern), with);
  if (out == source) return std::nullopt;
  return out;
}

/// jinja2 leaves out one line feed at the end of a template.
std::string without_last_line_feed(std::string source) {
  if (source.ends_with('\n')) source.pop_back();
  return source;
}

/// The part that opens the assistant's turn, from its if to the end of the template.
Source opening(const std::string& source) {
  const std::regex block(
      R"(\{%-?\s*if add_generation_prompt\s*-?%\}(?:(?!\{%-?\s*(if|endif|else|elif))[\s\S])*\{%-?\s*endif\s*-?%\}\s*$)");
  std::smatch match;
  if (!std::regex_search(source, match, block)) return std::nullopt;
  return match.str();
}

}  // namespace

const std::vector<TemplateMutant>& template_mutants() {
  static const std::vector<TemplateMutant> kMutants = {
      {"generation_prompt_missing", "the flag is off",
       [](const std::string& source) -> Source {
         if (source.find("add_generation_prompt") == std::string::npos) return std::nullopt;
         return "{%- set add_generation_prompt = false %}" + source;
       }},
      {"generation_prompt_doubled", "its block stands twice",
       [](const std::string& source) -> Source {
         const auto block = opening(source);
         if (!block) return std::nullopt;
         return without_last_line_feed(source) + without_last_line_feed(*block);
       }},
      {"default_system_missing", "its words are gone",
       [](const std::string& source) {
         return replaced(source, R"(You are (?!a function)[^'"\\<]*[.!])", "");
       }},
      {"system_dropped", "no message of the system's",
       [](const std::string& source) -> Source {
         return "{%- set messages = messages | rejectattr('role', 'equalto', 'system') | list %}" +
                source;
       }},
      {"template_bos_missing", "bos_token is empty",
       [](const std::string& source) -> Source {
         if (source.find("bos_token") == std::string::npos) return std::nullopt;
         return "{%- set bos_token = '' %}" + source;
       }},
      {"template_bos_doubled", "written in front",
       [](const std::string& source) -> Source {
         if (source.find("bos_token") == std::string::npos) return std::nullopt;
         return "{{ bos_token }}" + source;
       }},
      {"content_stripped", "trim at each content",
       [](const std::string& source) {
         return replaced(source, R"((message\.content|message\['content'\]) *(\}\}|\+|~|-\}\}))",
                         "($1 | trim) $2");
       }},
      {"content_not_stripped", "no trim",
       [](const std::string& source) {
         return replaced(source, R"(\s*\|\s*trim\b|\.strip\(\))", "");
       }},
      {"role_renamed", "assistant in capitals",
       [](const std::string& source) {
         return replaced(source, R"(\bassistant(?=<\||\\n|\n|<end))", "ASSISTANT");
       }},
      {"date_differs", "the date of an engine without a clock",
       [](const std::string& source) {
         return replaced(source, R"(strftime_now\([^)]*\))", "'26 Jul 2024'");
       }},
      {"thinking_switched", "off",
       [](const std::string& source) -> Source {
         if (source.find("enable_thinking") == std::string::npos) return std::nullopt;
         return "{%- set enable_thinking = false %}" + source;
       }},
      {"tools_dropped", "tools is none",
       [](const std::string& source) -> Source {
         if (source.find("tools") == std::string::npos) return std::nullopt;
         return "{%- set tools = none %}" + source;
       }},
      {"tool_answers_dropped", "no message of a tool's",
       [](const std::string& source) -> Source {
         return "{%- set messages = messages | rejectattr('role', 'equalto', 'tool') | list %}" +
                source;
       }},
      {"trailing_newline_lost", "the whole trimmed behind",
       [](const std::string& source) -> Source {
         return "{%- set whole %}" + without_last_line_feed(source) +
                "{% endset %}{{ whole[:-1] if whole[-1:] == '\\n' else whole }}";
       }},
      {"trailing_newline_added", "a line feed more",
       [](const std::string& source) -> Source {
         return without_last_line_feed(source) + "{{ '\\n' }}";
       }},
      {"trim_blocks_off", "a line feed more behind each block",
       [](const std::string& source) { return replaced(source, R"(([^-+][%#]\})\n)", "$1\n\n"); }},
      {"lstrip_blocks_off", "a plus at each indented block",
       [](const std::string& source) {
         return replaced(source, R"((^|\n)([ \t]+)(\{[%#])(?![-+]))", "$1$2$3+");
       }},
  };
  return kMutants;
}

}  // namespace plumbline::test
