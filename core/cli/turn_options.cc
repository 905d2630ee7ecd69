#include "core/cli/turn_options.h"

#include <ctime>

namespace plumbline::cli {

void TurnOptions::add_to(CLI::App& verb) {
  verb.add_option("--turn", turn,
                  "How the prompt ends: with the assistant's next turn opened (answer), inside its "
                  "last message (continue), or behind the last message (closed); auto: continue "
                  "after a message of the assistant's, else answer")
      ->check(CLI::IsMember({"auto", "answer", "continue", "closed"}))
      ->capture_default_str();
  verb.add_option("--thinking", thinking, "The template's enable_thinking (default: the config's)")
      ->check(CLI::IsMember({"on", "off"}));
  verb.add_option("--now", now_unix_s,
                  "The clock that the template sees, in seconds since 1970 (UTC)");
}

pipeline::RenderRequest TurnOptions::request() const {
  using pipeline::FinalTurn;
  pipeline::RenderRequest request;
  request.now_unix_s = now_unix_s >= 0 ? now_unix_s : std::time(nullptr);
  if (turn == "answer") request.final_turn = FinalTurn::kAnswer;
  if (turn == "continue") request.final_turn = FinalTurn::kContinue;
  if (turn == "closed") request.final_turn = FinalTurn::kClosed;
  if (!thinking.empty()) request.thinking = thinking == "on";
  return request;
}

pipeline::OrderedJson shown(const pipeline::RoleForgery& forgery) {
  if (forgery.is_protected) return "protected";
  return {{"unprotected", forgery.reason}};
}

pipeline::OrderedJson shown(std::span<const plumb_span> spans) {
  auto pairs = pipeline::OrderedJson::array();
  for (const plumb_span& span : spans) pairs.push_back({span.begin, span.end});
  return pairs;
}

}  // namespace plumbline::cli
