#include "core/protocol/corpus.h"

#include "core/golden/json_node.h"

namespace plumbline::protocol {
namespace {

constexpr size_t kIdsMax = size_t{1} << 20;

CorpusText read_text(const golden::JsonNode& line) {
  CorpusText one;
  one.text = line["text"].is_null() ? line["bytes_hex"].hex_bytes() : line["text"].text();
  if (!line["special"].is_null()) {
    const std::string special = line["special"].text();
    if (special != "parse" && special != "off") line["special"].refuse("parse or off");
    one.parses_special = special == "parse";
  }
  if (line["ids"].is_null()) return one;
  one.ids.emplace();
  for (const golden::JsonNode& id : line["ids"].items(kIdsMax)) one.ids->push_back(id.id());
  return one;
}

}  // namespace

Result<Corpus> parse_corpus(std::string_view lines, const std::string& name) {
  Corpus corpus{name, {}};
  size_t number = 0;
  while (!lines.empty()) {
    ++number;
    const size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = name + ": line " + std::to_string(number);
    PLUMB_ASSIGN(const nlohmann::json json, golden::parse_untrusted(line, where));
    std::optional<Error> mistake;
    corpus.texts.push_back(read_text({json, where, mistake}));
    if (mistake) return *std::move(mistake);
  }
  return corpus;
}

}  // namespace plumbline::protocol
