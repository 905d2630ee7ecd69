#include "core/cli/sides.h"

#include <sstream>

namespace plumbline::cli {

using pipeline::OrderedJson;

std::unique_ptr<diff::Side> side_of(Session& session, const std::string& name,
                                    const std::string& sha256) {
  return side_of(session, session.pipeline(), name, sha256);
}

std::unique_ptr<diff::Side> side_of(Session& session, pipeline::Pipeline& pipeline,
                                    const std::string& name, const std::string& sha256) {
  auto side = diff::make_side({.name = name,
                               .model_sha256 = sha256,
                               .on_progress = [](const std::string& line) { note(line); },
                               .cancel = &catch_interrupt()},
                              session.config(), pipeline);
  return session.config().config.runner.is_wanted() ? value_or_stop(std::move(side), kPlugin)
                                                    : part_or_stop(std::move(side));
}

int failure_exit(const diff::Side& a, const diff::Side& b) {
  return a.identity().is_runner || b.identity().is_runner ? kPlugin : kModelFile;
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
