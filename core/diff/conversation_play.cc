#include "core/diff/conversation_play.h"

#include <algorithm>

#include "core/diff/text_doors.h"

namespace plumbline::diff {
namespace {

using conversation::Answer;
using conversation::Conversation;
using pipeline::OrderedJson;

Error wrong(size_t index, const std::string& what) {
  return {PLUMB_INVALID_ARGUMENT, "event " + std::to_string(index + 1) + ": " + what};
}

constexpr const char* kForms =
    R"(expected {"ask": TEXT, "cancel_after": N}, {"edit": INDEX, "text": TEXT}, )"
    R"({"retry": true}, {"undo": true}, {"system": TEXT}, or a message of the user or the system)";

Result<std::string> text_of(const OrderedJson& event, const char* key, size_t index) {
  if (!event.contains(key) || !event[key].is_string())
    return wrong(index, std::string("no text ") + key + ": " + kForms);
  return event[key].get<std::string>();
}

Result<uint32_t> number_of(const OrderedJson& event, const char* key, size_t index) {
  const OrderedJson& value = event[key];
  if (!value.is_number_unsigned() || value.get<uint64_t>() > UINT32_MAX)
    return wrong(index, std::string(key) + " " + value.dump() + ", expected a whole number");
  return value.get<uint32_t>();
}

// A key that is misspelt would be another conversation than was meant.
Result<void> check_keys(const OrderedJson& event, size_t index) {
  static constexpr std::string_view kKeys[] = {"ask",  "edit",   "text",        "retry",
                                               "undo", "system", "cancel_after"};
  for (const auto& [key, value] : event.items()) {
    if (std::ranges::find(kKeys, key) == std::end(kKeys))
      return wrong(index, "unknown key " + diff::quoted(key) + ", " + kForms);
    if ((key == "retry" || key == "undo") && value != true)
      return wrong(index, key + " " + value.dump() + ", expected true");
  }
  return {};
}

Result<ScriptEvent> parse_event(const OrderedJson& event, size_t index) {
  using Kind = ScriptEvent::Kind;
  if (!event.is_object()) return wrong(index, event.dump() + ", " + kForms);
  ScriptEvent parsed;
  if (!event.contains("role")) PLUMB_TRY(check_keys(event, index));
  if (event.contains("ask")) {
    PLUMB_ASSIGN(parsed.text, text_of(event, "ask", index));
  } else if (event.contains("edit")) {
    parsed.kind = Kind::kEdit;
    PLUMB_ASSIGN(parsed.index, number_of(event, "edit", index));
    PLUMB_ASSIGN(parsed.text, text_of(event, "text", index));
  } else if (event.contains("retry")) {
    parsed.kind = Kind::kRetry;
  } else if (event.contains("undo")) {
    parsed.kind = Kind::kUndo;
  } else if (event.contains("system")) {
    parsed.kind = Kind::kSystem;
    PLUMB_ASSIGN(parsed.text, text_of(event, "system", index));
  } else if (event.contains("role")) {
    PLUMB_ASSIGN(const std::string role, text_of(event, "role", index));
    if (role == "system") parsed.kind = Kind::kSystem;
    if (role != "system" && role != "user") return wrong(index, "role " + role + ", " + kForms);
    PLUMB_ASSIGN(parsed.text, text_of(event, "content", index));
  } else {
    return wrong(index, event.dump() + ", " + kForms);
  }
  if (event.contains("cancel_after")) {
    if (!parsed.is_answered())
      return wrong(index, "cancel_after, expected only where there is an answer");
    PLUMB_ASSIGN(parsed.cancel_after, number_of(event, "cancel_after", index));
  }
  return parsed;
}

std::vector<std::string> listed(const OrderedJson& messages) {
  std::vector<std::string> all;
  for (const OrderedJson& message : messages)
    all.push_back(message.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
  return all;
}

bool is_cancelled(const PlayOptions& options) {
  return options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed);
}

class Player {
 public:
  Player(pipeline::Pipeline& pipeline, Conversation& conversation, model::Decoder& decoder,
         const ConversationScript& script, const PlayOptions& options)
      : pipeline_(pipeline),
        conversation_(conversation),
        decoder_(decoder),
        script_(script),
        options_(options) {}

  Result<TurnsSeen> play() {
    TurnsSeen seen;
    for (size_t turn = 0; turn < script_.events.size(); ++turn) {
      if (is_cancelled(options_)) return Error{PLUMB_CANCELLED, "cancelled"};
      PLUMB_ASSIGN(TurnSeen one, play_event(turn));
      if (options_.behind_turn) PLUMB_TRY(options_.behind_turn(conversation_, one));
      PLUMB_ASSIGN(const OrderedJson messages, conversation_.messages());
      one.history = listed(messages);
      one.n_rows = decoder_.n_past();
      seen.push_back(std::move(one));
    }
    return seen;
  }

 private:
  Result<TurnSeen> play_event(size_t turn) {
    const ScriptEvent& event = script_.events[turn];
    TurnSeen seen;
    if (!event.is_answered()) {
      const auto done = event.kind == ScriptEvent::Kind::kSystem
                            ? conversation_.set_system(event.text)
                            : undone();
      if (!done) seen.error = done.error().message;
      return seen;
    }
    if (turn < options_.picks.size()) PLUMB_TRY(script_picks(options_.picks[turn]));
    conversation::Request request{.max_tokens = script_.n_tokens, .seed = script_.seed};
    request.on_pick = [&](const pipeline::Pick& pick) {
      seen.picked.push_back(pick.id);
      if (seen.picked.size() == event.cancel_after || is_cancelled(options_))
        conversation_.cancel();
    };
    request.on_text = [&](std::string_view text) { seen.text += text; };
    const Result<Answer> answer = answer_to(event, request);
    if (!answer) {
      const bool is_users = answer.error().code == PLUMB_INVALID_ARGUMENT;
      if (!is_users && answer.error().code != PLUMB_NUMERIC) return answer.error();
      seen = {.error = answer.error().message};
      return seen;
    }
    seen.prompt_ids = answer->prompt_ids;
    seen.n_evicted =
        static_cast<uint32_t>(answer->evicted.messages.last - answer->evicted.messages.first);
    seen.seed = answer->seed;
    seen.n_dropped = answer->n_dropped_ids;
    seen.stop_reason = pipeline::stop_reason_name(answer->stop_reason);
    PLUMB_ASSIGN(const OrderedJson messages, conversation_.messages());
    seen.prompt = listed(messages);
    seen.prompt.pop_back();  // the answer
    return seen;
  }

  Result<Answer> answer_to(const ScriptEvent& event, const conversation::Request& request) {
    switch (event.kind) {
      case ScriptEvent::Kind::kEdit:
        return conversation_.edit(event.index,
                                  OrderedJson{{"role", "user"}, {"content", event.text}}, request);
      case ScriptEvent::Kind::kRetry:
        return conversation_.retry(request);
      default:
        return conversation_.ask(event.text, request);
    }
  }

  Result<void> undone() {
    const auto message = conversation_.undo();
    return message ? Result<void>() : Result<void>(message.error());
  }

  Result<void> script_picks(const std::vector<int32_t>& ids) {
    config::SamplingConfig sampling = pipeline_.config().sampling;
    // Nothing was picked in a turn that was refused, or failed.
    if (!ids.empty()) {
      sampling.stages.assign(
          1, {"scripted", config::kAuto, OrderedJson{{"ids", ids}, {"then", "end"}}.dump()});
    }
    return conversation_.set_sampling(sampling);
  }

  pipeline::Pipeline& pipeline_;
  Conversation& conversation_;
  model::Decoder& decoder_;
  const ConversationScript& script_;
  const PlayOptions& options_;
};

}  // namespace

std::string shown_event(const ScriptEvent& event) {
  std::string shown;
  switch (event.kind) {
    case ScriptEvent::Kind::kAsk:
      shown = "ask " + diff::quoted(event.text);
      break;
    case ScriptEvent::Kind::kEdit:
      shown = "edit message " + std::to_string(event.index) + " to " + diff::quoted(event.text);
      break;
    case ScriptEvent::Kind::kRetry:
      shown = "retry";
      break;
    case ScriptEvent::Kind::kUndo:
      shown = "undo";
      break;
    case ScriptEvent::Kind::kSystem:
      shown = "system " + diff::quoted(event.text);
      break;
  }
  if (event.cancel_after)
    shown += ", cancelled behind token " + std::to_string(*event.cancel_after);
  return shown;
}

Result<std::vector<ScriptEvent>> parse_events(const OrderedJson& list) {
  if (!list.is_array() || list.empty())
    return Error{PLUMB_INVALID_ARGUMENT,
                 std::string("the conversation is no JSON array of events: ") + kForms};
  std::vector<ScriptEvent> events;
  for (size_t index = 0; index < list.size(); ++index) {
    const OrderedJson& event = list[index];
    // Answers are the sides' own.
    if (event.is_object() && event.contains("role") && event["role"] == "assistant") continue;
    PLUMB_ASSIGN(ScriptEvent one, parse_event(event, index));
    events.push_back(std::move(one));
  }
  return events;
}

Result<TurnsSeen> play(pipeline::Pipeline& pipeline, const ConversationScript& script,
                       const PlayOptions& options) {
  PLUMB_ASSIGN(model::Decoder* const decoder, pipeline.decoder());
  PLUMB_TRY(decoder->truncate(0));
  PLUMB_ASSIGN(const std::unique_ptr<Conversation> conversation,
               Conversation::create(pipeline, conversation::options_of(pipeline.config())));
  return Player(pipeline, *conversation, *decoder, script, options).play();
}

}  // namespace plumbline::diff
