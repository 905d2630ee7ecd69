// conversation_play.h: a conversation that follows a script, and what was seen of each of its
// turns.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/conversation/conversation.h"
#include "core/pipeline/pipeline.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// One thing that a user does.
struct ScriptEvent {
  enum class Kind { kAsk, kEdit, kRetry, kUndo, kSystem };
  Kind kind = Kind::kAsk;
  std::string text = {};  // of kAsk, kEdit and kSystem
  uint32_t index = 0;  // kEdit: of the message
  std::optional<uint32_t> cancel_after =
      {};  // that many tokens were picked, the answer is cancelled

  bool is_answered() const { return kind != Kind::kUndo && kind != Kind::kSystem; }
};
/// "ask "How are you?"", for reports.
std::string shown_event(const ScriptEvent& event);

struct ConversationScript {
  std::vector<ScriptEvent> events;
  uint32_t n_tokens = 8;  // of an answer, at most
  uint64_t seed = 1;
};

/// An array of events: {"system": TEXT}, {"ask": TEXT}, {"edit": INDEX, "text": TEXT},
/// {"retry": true}, {"undo": true}; those that are answered may have "cancel_after": N. Of
/// messages, as prompts have them, the system's and the users' are taken. Fails INVALID_ARGUMENT:
/// which event, seen, expected.
Result<std::vector<ScriptEvent>> parse_events(const pipeline::OrderedJson& list);

/// Of one event. What it says of an answer is empty where there was none.
struct TurnSeen {
  std::string error = {};  // why it was refused; the rest is as it was before
  std::vector<std::string> prompt = {};  // messages that the prompt was made of, as JSON
  std::vector<int32_t> prompt_ids = {};
  uint32_t n_evicted = 0;  // messages, in front of the prompt
  uint64_t seed = 0;  // of the answer's coins
  std::vector<int32_t> picked = {};  // all of them
  uint32_t n_dropped = 0;  // of picked, because they were not delivered
  std::string stop_reason = {};
  std::string text = {};  // that was delivered
  std::vector<std::string> history = {};  // messages behind the event
  uint32_t n_rows = 0;  // of the context, behind it

  bool operator==(const TurnSeen&) const = default;
};
using TurnsSeen = std::vector<TurnSeen>;

struct PlayOptions {
  const std::atomic<bool>* cancel = nullptr;
  /// Not empty: what each turn picks, instead of the config's stages.
  std::vector<std::vector<int32_t>> picks = {};
  /// Told behind each turn, before the history and the rows are looked at. It may change the
  /// conversation: for what somebody does wrong there.
  std::function<Result<void>(conversation::Conversation& conversation, const TurnSeen& seen)>
      behind_turn = {};
};

/// Plays all events, from an empty context. Fails CANCELLED, and as the pipeline's parts do where
/// no event is to blame.
Result<TurnsSeen> play(pipeline::Pipeline& pipeline, const ConversationScript& script,
                       const PlayOptions& options);

}  // namespace plumbline::diff
