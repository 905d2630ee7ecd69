#include "core/cli/sides.h"

#include <sstream>

namespace plumbline::cli {

using pipeline::OrderedJson;

std::unique_ptr<diff::Side> side_of(Session& session, const std::string& name) {
  return side_of(session, session.pipeline(), name);
}

std::unique_ptr<diff::Side> side_of(Session& session, pipeline::Pipeline& pipeline,
                                    const std::string& name) {
  return part_or_stop(diff::make_side({.name = name}, session.config(), pipeline));
}

std::vector<NamedText> read_named_texts(const std::string& file, const std::string& half) {
  std::vector<NamedText> all;
  std::istringstream lines(read_all(file));
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = file + ": line " + std::to_string(number);
    const OrderedJson json = parse_json(line, where);
    const auto text = json.find("text");
    if (!json.is_object() || text == json.end() || !text->is_string()) {
      stop(kUsage, {PLUMB_INVALID_ARGUMENT, where + ": expected an object with a \"text\""});
    }
    if (!half.empty() && json.value("half", OrderedJson()) != half) continue;
    const auto name = json.find("name");
    all.push_back({name != json.end() && name->is_string() ? name->get<std::string>()
                                                           : "line " + std::to_string(number),
                   text->get<std::string>()});
  }
  return all;
}

}  // namespace plumbline::cli
