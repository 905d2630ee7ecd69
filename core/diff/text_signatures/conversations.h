// conversations.h: why two conversations part: what one side keeps, loses or uses twice.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/diff/conversation_play.h"
#include "core/diff/report.h"
#include "core/diff/text_evidence.h"

namespace plumbline::diff {

/// What was played of a script. One that ends earlier says nothing of the rest: a hypothesis knows
/// what B does at the first turn that it changes, and not what follows from it.
struct Played {
  TurnsSeen turns;
  bool operator==(const Played& other) const;
};
using ConversationSide = SideOf<ConversationScript, Played>;

/// An answer of A's made again.
struct Regeneration {
  std::vector<int32_t> prompt_ids;
  uint64_t seed = 0;
  uint32_t n_tokens = 0;  // at most
  /// Rows in front that hold these ids, whatever the prompt's are.
  std::vector<int32_t> held_ids = {};
};

struct ConversationEvidence {
  ConversationScript script;
  ConversationSide a, b;
  std::function<Result<pipeline::Generation>(const Regeneration&)> regenerated_a;
  std::function<Result<std::string>(const std::vector<int32_t>& ids)> text_of_a;  // that is shown
};
ConversationEvidence conversation_evidence(pipeline::Pipeline& a, ConversationScript script,
                                           ConversationSide side_a, ConversationSide side_b);

std::optional<Cause> diagnose_conversation(const ConversationEvidence& evidence);

}  // namespace plumbline::diff
