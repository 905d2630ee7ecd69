#include "core/diff/text_signatures/conversations.h"

#include <algorithm>
#include <map>
#include <memory>

#include "core/diff/text_doors.h"
#include "core/diff/text_signatures/trial.h"

namespace plumbline::diff {
namespace {

using pipeline::OrderedJson;
using ConversationHypothesis = TextHypothesis<ConversationScript, Played>;

/// A turn that A has played, and what a hypothesis may ask of it.
struct TurnOfA {
  const ConversationEvidence& evidence;
  const ConversationScript& script;
  const TurnsSeen& all;
  size_t at;

  const ScriptEvent& event() const { return script.events[at]; }
  const TurnSeen& seen() const { return all[at]; }
};

// Changes a turn into what B would have shown; false: nothing is otherwise there.
using Change = std::function<Result<bool>(const TurnOfA& turn, TurnSeen& seen)>;

bool has_role(const std::string& message, const char* role) {
  const OrderedJson parsed = OrderedJson::parse(message, nullptr, false);
  return parsed.is_object() && parsed.contains("role") && parsed["role"] == role;
}

// The text of the last message, changed.
void change_answer(TurnSeen& seen, const std::function<void(std::string&)>& change) {
  OrderedJson message = OrderedJson::parse(seen.history.back(), nullptr, false);
  std::string text = message["content"].get<std::string>();
  change(text);
  message["content"] = std::move(text);
  seen.history.back() = message.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

bool has_answer(const TurnSeen& seen) {
  return seen.error.empty() && !seen.picked.empty() && !seen.history.empty();
}

// What an answer that was made again changes of a turn.
Result<bool> put_answer(const TurnOfA& turn, const Regeneration& asked, TurnSeen& seen) {
  PLUMB_ASSIGN(pipeline::Generation made, turn.evidence.regenerated_a(asked));
  if (turn.event().cancel_after && made.ids.size() > seen.picked.size()) {
    made.ids.resize(seen.picked.size());
    const Ids delivered(made.ids.begin(), made.ids.end() - seen.n_dropped);
    PLUMB_ASSIGN(made.text, turn.evidence.text_of_a(delivered));
  }
  if (made.ids == seen.picked) return false;
  const auto n_rows = [&](const std::vector<int32_t>& ids) {
    return static_cast<int64_t>(asked.prompt_ids.size() + ids.size());
  };
  // The last id of an answer may have been run or not: as it was.
  seen.n_rows = static_cast<uint32_t>(seen.n_rows + n_rows(made.ids) - n_rows(seen.picked));
  seen.picked = made.ids;
  seen.text = made.text;
  if (!turn.event().cancel_after) seen.stop_reason = pipeline::stop_reason_name(made.stop_reason);
  change_answer(seen, [&](std::string& text) { text = made.text; });
  return true;
}

Result<bool> lose_system(const TurnOfA&, TurnSeen& seen) {
  if (seen.n_evicted == 0 || seen.history.empty() || !has_role(seen.history.front(), "system"))
    return false;
  seen.history.erase(seen.history.begin());
  return true;
}

// The user's half of the oldest pair that stays.
Result<bool> split_pair(const TurnOfA&, TurnSeen& seen) {
  if (seen.n_evicted == 0) return false;
  const auto first = std::ranges::find_if(
      seen.history, [](const std::string& message) { return !has_role(message, "system"); });
  if (first == seen.history.end() || !has_role(*first, "user")) return false;
  seen.history.erase(first);
  return true;
}

Result<bool> double_stored(const TurnOfA&, TurnSeen& seen) {
  if (!has_answer(seen)) return false;
  change_answer(seen, [](std::string& text) { text += text; });
  return true;
}

Result<bool> double_shown(const TurnOfA& turn, TurnSeen& seen) {
  PLUMB_ASSIGN(const bool is_changed, double_stored(turn, seen));
  seen.text += is_changed ? seen.text : "";
  return is_changed;
}

Result<bool> lose_answer(const TurnOfA&, TurnSeen& seen) {
  if (!has_answer(seen)) return false;
  seen.history.pop_back();
  return true;
}

Result<bool> keep_late_text(const TurnOfA& turn, TurnSeen& seen) {
  if (!turn.event().cancel_after || seen.n_dropped == 0 || !has_answer(seen)) return false;
  PLUMB_ASSIGN(const std::string late, turn.evidence.text_of_a(seen.picked));
  if (late == seen.text) return false;
  change_answer(seen, [&](std::string& text) { text = late; });
  return true;
}

Result<bool> keep_late_rows(const TurnOfA& turn, uint32_t n_not_run, TurnSeen& seen) {
  if (!turn.event().cancel_after || seen.n_dropped < n_not_run) return false;
  seen.n_rows += seen.n_dropped - n_not_run;
  return seen.n_dropped > n_not_run;
}

Result<bool> keep_first_seed(const TurnOfA& turn, TurnSeen& seen) {
  if (!has_answer(seen)) return false;
  const auto first = std::ranges::find_if(turn.all, has_answer);
  if (first->seed == seen.seed) return false;
  return put_answer(turn, {seen.prompt_ids, first->seed, turn.script.n_tokens}, seen);
}

// Ids that the context held in front of a turn.
std::vector<int32_t> held_before(const TurnOfA& turn) {
  for (size_t at = turn.at; at-- > 0;) {
    const TurnSeen& before = turn.all[at];
    if (before.prompt_ids.empty()) continue;
    std::vector<int32_t> held = before.prompt_ids;
    held.insert(held.end(), before.picked.begin(), before.picked.end());
    held.resize(std::min<size_t>(held.size(), before.n_rows));
    return held;
  }
  return {};
}

Result<bool> keep_old_rows(const TurnOfA& turn, TurnSeen& seen) {
  if (!has_answer(seen) || turn.event().cancel_after) return false;
  std::vector<int32_t> held = held_before(turn);
  held.resize(std::min(held.size(), seen.prompt_ids.size() - 1));
  if (std::equal(held.begin(), held.end(), seen.prompt_ids.begin())) return false;
  return put_answer(turn, {seen.prompt_ids, seen.seed, turn.script.n_tokens, std::move(held)},
                    seen);
}

class Hypotheses {
 public:
  explicit Hypotheses(const ConversationEvidence& evidence, ConversationSide a)
      : evidence_(evidence), a_(std::move(a)) {}

  std::vector<ConversationHypothesis> all() {
    add("system_lost", "B loses the system message when it evicts", lose_system);
    add("half_pair_evicted", "B evicts a user's message and keeps its answer", split_pair);
    add("text_doubled", "B stores each answer twice over", double_stored);
    add("text_doubled", "B shows and stores each answer twice over", double_shown);
    add("answer_lost", "B does not store its answers", lose_answer);
    add("late_tokens_kept", "B writes down text that came behind a cancel", keep_late_text);
    add("late_tokens_in_context", "B keeps rows of tokens that came behind a cancel",
        [](const TurnOfA& turn, TurnSeen& seen) { return keep_late_rows(turn, 0, seen); });
    add("late_tokens_in_context", "B keeps rows of tokens that came behind a cancel, but the last",
        [](const TurnOfA& turn, TurnSeen& seen) { return keep_late_rows(turn, 1, seen); });
    add("seed_not_advanced", "B throws the coins of the first answer in every answer",
        keep_first_seed);
    add("old_rows_kept",
        "B takes the context's rows for those of a prompt that differs from what they hold",
        keep_old_rows);
    return std::move(hypotheses_);
  }

  void add(const char* signature, const char* statement, Change change) {
    hypotheses_.push_back(
        {signature, statement, [this_evidence = &evidence_, a = a_, change = std::move(change)] {
           return Result<ConversationSide>(side(*this_evidence, a, change));
         }});
  }

 private:
  static ConversationSide side(const ConversationEvidence& evidence, const ConversationSide& a,
                               const Change& change) {
    return [&evidence, a, change](const ConversationScript& script) -> Result<Played> {
      PLUMB_ASSIGN(Played played, a(script));
      const TurnsSeen plain = played.turns;
      for (size_t at = 0; at < plain.size(); ++at) {
        PLUMB_ASSIGN(const bool is_changed,
                     change({evidence, script, plain, at}, played.turns[at]));
        if (!is_changed) continue;
        played.turns.resize(at + 1);
        break;
      }
      return played;
    };
  }

  const ConversationEvidence& evidence_;
  ConversationSide a_;
  std::vector<ConversationHypothesis> hypotheses_;
};

// Short conversations of the kinds that show what is kept.
std::vector<ConversationScript> conversation_probes(const ConversationScript& given) {
  using Kind = ScriptEvent::Kind;
  constexpr uint32_t kTokens = 6;
  const auto script = [&](std::vector<ScriptEvent> events) {
    return ConversationScript{std::move(events), std::min(given.n_tokens, kTokens), given.seed};
  };
  return {script({{Kind::kAsk, "What is a plumb line?"}, {Kind::kAsk, "And who uses it?"}}),
          script({{Kind::kAsk, "Count to ten.", 0, 2}, {Kind::kAsk, "Go on."}}),
          script({{Kind::kAsk, "Name a town."}, {Kind::kRetry}, {Kind::kUndo}})};
}

// Asked again and again for the same scripts.
ConversationSide remembered(ConversationSide side) {
  auto known = std::make_shared<std::map<std::string, Result<Played>>>();
  return [side = std::move(side), known](const ConversationScript& script) -> Result<Played> {
    std::string key;
    for (const ScriptEvent& event : script.events)
      key += std::to_string(event.text.size()) + event.text + shown_event(event);
    const auto found = known->find(key);
    if (found != known->end()) return found->second;
    return known->emplace(std::move(key), side(script)).first->second;
  };
}

}  // namespace

bool Played::operator==(const Played& other) const {
  const size_t n = std::min(turns.size(), other.turns.size());
  return std::equal(turns.begin(), turns.begin() + static_cast<std::ptrdiff_t>(n),
                    other.turns.begin());
}

ConversationEvidence conversation_evidence(pipeline::Pipeline& a, ConversationScript script,
                                           ConversationSide side_a, ConversationSide side_b) {
  ConversationEvidence evidence;
  evidence.regenerated_a = [&a](const Regeneration& asked) -> Result<pipeline::Generation> {
    PLUMB_ASSIGN(model::Decoder* const decoder, a.decoder());
    PLUMB_ASSIGN(pipeline::SamplerChain sampler, a.sampler());
    PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, a.tokenizer());
    PLUMB_TRY(decoder->truncate(0));
    if (!asked.held_ids.empty()) PLUMB_TRY(decoder->forward(asked.held_ids));
    pipeline::GenerationRequest request = a.generation_request(asked.prompt_ids);
    request.n_held = static_cast<uint32_t>(asked.held_ids.size());
    request.max_tokens = asked.n_tokens;
    request.seed = asked.seed;
    return pipeline::generate(*decoder, sampler, *tokenizer, request);
  };
  evidence.text_of_a = [&a](const Ids& ids) -> Result<std::string> {
    PLUMB_ASSIGN(const ShownText shown, show_ids(a, ids));
    return shown.text;
  };
  evidence.script = std::move(script);
  evidence.a = std::move(side_a);
  evidence.b = std::move(side_b);
  return evidence;
}

std::optional<Cause> diagnose_conversation(const ConversationEvidence& evidence) {
  std::vector<ConversationScript> inputs = {evidence.script};
  for (ConversationScript& probe : conversation_probes(evidence.script))
    inputs.push_back(std::move(probe));
  const ConversationSide a = remembered(evidence.a);
  const Trial<ConversationScript, Played> trial(a, evidence.b, std::move(inputs));
  if (!trial.is_open()) return std::nullopt;
  return trial.judge(Hypotheses(evidence, a).all());
}

}  // namespace plumbline::diff
