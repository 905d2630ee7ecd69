#include "core/cli/prompt_options.h"

#include <charconv>

#include "core/cli/session.h"

namespace plumbline::cli {

void PromptOptions::add_to(CLI::App& verb) {
  auto* text =
      verb.add_option("-p,--prompt", prompt, "The prompt; without it and --messages: stdin");
  verb.add_option("--messages", messages_file,
                  "A JSON file with messages: [{\"role\", \"content\"}]; - is stdin")
      ->excludes(text);
  turns.add_to(verb);
  verb.add_flag("--raw", raw, "Take the prompt as it is, without the chat template");
}

pipeline::Prompt PromptOptions::make(pipeline::Pipeline& pipeline) {
  if (!is_given()) prompt = read_all("-");
  if (raw) return {.bytes = prompt};
  if (messages_file.empty() && part_or_stop(pipeline.template_text()).empty()) {
    note("the model has no chat template: the prompt is used as it is");
    return {.bytes = prompt};
  }
  const pipeline::OrderedJson messages =
      messages_file.empty() ? pipeline::OrderedJson{{{"role", "user"}, {"content", prompt}}}
                            : parse_json(read_all(messages_file), messages_file);
  return value_or_stop(pipeline.render(messages, turns.request()), kModelFile);
}

std::vector<int32_t> parse_ids(const std::string& text, const std::string& option) {
  std::vector<int32_t> ids;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    int32_t id = 0;
    const auto [next, code] = std::from_chars(at, end, id);
    if (code != std::errc() || (next != end && *next != ',')) {
      stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                    option + ": expected whole numbers between commas, found \"" + text + "\""});
    }
    ids.push_back(id);
    at = next == end ? end : next + 1;
  }
  return ids;
}

}  // namespace plumbline::cli
