#include "core/diff/conversation_comparison.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "core/diff/bisect_choices.h"
#include "core/diff/comparable.h"
#include "core/diff/text_doors.h"
#include "core/diff/text_signatures/conversations.h"
#include "core/diff/unseen_choices.h"
#include "core/diff/verdicts.h"

namespace plumbline::diff {
namespace {

std::string lines_of(const std::vector<std::string>& messages) {
  std::string all;
  for (const std::string& message : messages) all += message + "\n";
  return all;
}

ExactDoor compared(Door door, uint64_t size_a, uint64_t size_b) {
  ExactDoor found;
  found.door = door;
  found.is_compared = true;
  found.size_a = size_a;
  found.size_b = size_b;
  return found;
}

void differ(ExactDoor& door, uint64_t at, std::string seen_a, std::string seen_b) {
  Place place;
  place.door = door.door;
  place.at = at;
  place.seen_a = std::move(seen_a);
  place.seen_b = std::move(seen_b);
  door.place = std::move(place);
  door.verdict = Verdict::kWrong;
}

ExactDoor compare_picked(const TurnSeen& a, const TurnSeen& b) {
  ExactDoor door = compared(Door::kPick, a.picked.size(), b.picked.size());
  const auto [in_a, in_b] =
      std::mismatch(a.picked.begin(), a.picked.end(), b.picked.begin(), b.picked.end());
  if (in_a == a.picked.end() && in_b == b.picked.end()) {
    if (a.seed != b.seed)
      differ(door, 0, "seed " + std::to_string(a.seed), "seed " + std::to_string(b.seed));
    return door;
  }
  const auto shown = [](const std::vector<int32_t>& picked, auto at) {
    return at == picked.end() ? "no id: it has ended" : "id " + std::to_string(*at);
  };
  differ(door, static_cast<uint64_t>(in_a - a.picked.begin()), shown(a.picked, in_a),
         shown(b.picked, in_b));
  door.place->step = static_cast<uint32_t>(door.place->at);
  return door;
}

ExactDoor compare_text(const TurnSeen& a, const TurnSeen& b) {
  ExactDoor door = compare_bytes(Door::kText, a.text, b.text);
  if (!door.place && a.stop_reason != b.stop_reason)
    differ(door, a.text.size(), "ends by " + a.stop_reason, "ends by " + b.stop_reason);
  return door;
}

// What stays behind the turn.
ExactDoor compare_kept(const TurnSeen& a, const TurnSeen& b) {
  ExactDoor door = compared(Door::kContext, a.history.size(), b.history.size());
  const auto refused = [](const std::string& error) {
    return error.empty() ? std::string("it is done") : "error: " + error;
  };
  if (a.error != b.error) {
    differ(door, 0, refused(a.error), refused(b.error));
  } else if (a.n_evicted != b.n_evicted) {
    differ(door, 0, std::to_string(a.n_evicted) + " messages evicted",
           std::to_string(b.n_evicted) + " messages evicted");
  } else if (a.history != b.history) {
    const auto [in_a, in_b] =
        std::mismatch(a.history.begin(), a.history.end(), b.history.begin(), b.history.end());
    const auto shown = [](const std::vector<std::string>& history, auto at) {
      return at == history.end() ? "no message: it ends there" : quoted(*at, 120);
    };
    differ(door, static_cast<uint64_t>(in_a - a.history.begin()), shown(a.history, in_a),
           shown(b.history, in_b));
  } else if (a.n_rows != b.n_rows) {
    differ(door, std::min(a.n_rows, b.n_rows), std::to_string(a.n_rows) + " rows held",
           std::to_string(b.n_rows) + " rows held");
  }
  return door;
}

PromptReport compare_turns(const ScriptEvent& event, const TurnSeen& a, const TurnSeen& b) {
  PromptReport report;
  report.prompt = shown_event(event);
  report.ids_a = a.prompt_ids;
  report.ids_b = b.prompt_ids;
  report.text_a = a.text;
  report.text_b = b.text;
  if (event.is_answered() && a.error.empty() && b.error.empty()) {
    report.exact.push_back(compare_bytes(Door::kPrompt, lines_of(a.prompt), lines_of(b.prompt)));
    pipeline::Encoding ids_a, ids_b;
    ids_a.ids = a.prompt_ids;
    ids_b.ids = b.prompt_ids;
    report.exact.push_back(compare_ids(ids_a, ids_b, ""));
    report.exact.push_back(compare_picked(a, b));
    report.exact.push_back(compare_text(a, b));
  }
  report.exact.push_back(compare_kept(a, b));
  if (!a.error.empty() && a.error == b.error)
    report.notes.push_back("both sides refuse it: " + a.error);
  const auto kept = [](const TurnSeen& turn) {
    return std::to_string(turn.history.size()) + " messages and " + std::to_string(turn.n_rows) +
           " rows, " + std::to_string(turn.n_evicted) + " messages evicted";
  };
  report.notes.push_back("context: " + kept(a) +
                         (kept(a) == kept(b) ? "" : " in A; " + kept(b) + " in B"));
  return report;
}

}  // namespace

Result<Report> compare_conversations(Side& a, Side& b, const ConversationRequest& request,
                                     const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  const auto say = [&](const char* what) {
    if (progress) progress(what);
  };
  if (a.identity().is_runner || b.identity().is_runner)
    return Error{PLUMB_UNSUPPORTED, "a foreign engine holds no conversation: compare prompts"};
  PLUMB_TRY(check_comparable(a, b));
  Report report;
  report.a = a.identity();
  report.b = b.identity();
  report.mode = promises_equal(a, b) ? Mode::kChained : Mode::kForced;
  const Choices choices(a.config().tree, b.config().tree);
  report.differences = choices.shown();
  report.pair_class = a.numerics().text() + " | " + b.numerics().text();

  const bool is_free = report.mode == Mode::kChained;
  const ConversationSide side_a = [&](const ConversationScript& script) -> Result<Played> {
    PLUMB_ASSIGN(TurnsSeen turns, play(a.pipeline(), script, {.cancel = request.cancel}));
    return Played{std::move(turns)};
  };
  const ConversationSide side_b = [&](const ConversationScript& script) -> Result<Played> {
    PlayOptions options{.cancel = request.cancel, .behind_turn = request.behind_turn_of_b};
    if (!is_free) {
      PLUMB_ASSIGN(const Played of_a, side_a(script));
      for (const TurnSeen& turn : of_a.turns) options.picks.push_back(turn.picked);
    }
    PLUMB_ASSIGN(TurnsSeen turns, play(b.pipeline(), script, options));
    return Played{std::move(turns)};
  };
  say("A's conversation");
  PLUMB_ASSIGN(const Played of_a, side_a(request.script));
  say("B's conversation");
  PLUMB_ASSIGN(const Played of_b, side_b(request.script));
  if (!is_free)
    report.notes.emplace_back("equal bits are not promised: B was made to pick what A picked");
  for (size_t turn = 0; turn < of_a.turns.size(); ++turn) {
    PromptReport found =
        compare_turns(request.script.events[turn], of_a.turns[turn], of_b.turns[turn]);
    found.index = static_cast<uint32_t>(turn);
    judge(found);
    if (found.verdict != Verdict::kMatch) {
      say("why the conversations part");
      const ConversationEvidence evidence =
          conversation_evidence(a.pipeline(), request.script, side_a, side_b);
      if (auto cause = diagnose_conversation(evidence)) {
        cause->place = *found.place;
        add_cause(found, std::move(cause));
      }
      const size_t n_left = of_a.turns.size() - turn - 1;
      if (n_left > 0) {
        report.notes.push_back(std::to_string(n_left) +
                               " turns behind it follow from it and were not compared");
      }
    }
    const bool is_last = found.verdict != Verdict::kMatch;
    report.prompts.push_back(std::move(found));
    if (is_last) break;
  }
  std::set<Door> compared;
  for (const PromptReport& turn : report.prompts) {
    for (const ExactDoor& door : turn.exact) compared.insert(door.door);
  }
  if (!is_free) compared.erase(Door::kPick);
  judge_unseen_choices(choices.list(), compared, request.script.seed, report);
  judge(report);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  report.seconds = spent.count();
  return report;
}

}  // namespace plumbline::diff
