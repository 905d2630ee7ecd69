// conversation_comparison.h: two pipelines hold the same conversation: the turn at which they part,
// and why.
#pragma once

#include <atomic>
#include <functional>

#include "core/diff/conversation_play.h"
#include "core/diff/engine.h"

namespace plumbline::diff {

struct ConversationRequest {
  ConversationScript script;
  const std::atomic<bool>* cancel = nullptr;
  /// PlayOptions::behind_turn of B's conversation.
  std::function<Result<void>(conversation::Conversation& conversation, const TurnSeen& seen)>
      behind_turn_of_b = {};
};

/// Plays the script on both sides; the report has a prompt for each turn, up to the first that
/// differs. Where equal bits are not promised, B is made to pick what A picked. Fails UNSUPPORTED
/// (a foreign engine), INCOMPATIBLE (other vocabularies), CANCELLED, and as play does.
Result<Report> compare_conversations(Side& a, Side& b, const ConversationRequest& request,
                                     const Progress& progress = {});

}  // namespace plumbline::diff
