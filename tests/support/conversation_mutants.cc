#include <algorithm>

#include "tests/support/mutants.h"

namespace plumbline::test {
namespace {

using conversation::Conversation;
using diff::TurnSeen;
using pipeline::OrderedJson;

// The messages, changed; nothing is put back where change says no.
Result<void> with_messages(Conversation& conversation,
                           const std::function<bool(std::vector<OrderedJson>&)>& change) {
  PLUMB_ASSIGN(const OrderedJson all, conversation.messages());
  std::vector<OrderedJson> messages(all.begin(), all.end());
  if (!change(messages)) return {};
  return conversation.set_messages(std::move(messages));
}

bool ends_with_answer(const std::vector<OrderedJson>& messages) {
  return !messages.empty() && messages.back()["role"] == "assistant";
}

}  // namespace

const std::vector<ConversationMutant>& conversation_mutants() {
  static const std::vector<ConversationMutant> kMutants = {
      {"system_lost", "with the first messages that go",
       [](pipeline::Pipeline&, Conversation& conversation, const TurnSeen& seen) {
         return seen.n_evicted > 0 ? conversation.set_system("") : Result<void>();
       }},
      {"half_pair_evicted", "the question goes, the answer stays",
       [](pipeline::Pipeline&, Conversation& conversation, const TurnSeen& seen) -> Result<void> {
         if (seen.n_evicted == 0) return {};
         return with_messages(conversation, [](std::vector<OrderedJson>& messages) {
           const auto first = std::ranges::find_if(
               messages, [](const OrderedJson& message) { return message["role"] == "user"; });
           if (first == messages.end()) return false;
           messages.erase(first);
           return true;
         });
       }},
      {"late_tokens_in_context", "one row too many behind a cancel",
       [](pipeline::Pipeline& pipeline, Conversation&, const TurnSeen& seen) -> Result<void> {
         if (seen.stop_reason != "CANCELLED" || seen.n_dropped == 0) return {};
         PLUMB_ASSIGN(model::Decoder* const decoder, pipeline.decoder());
         const auto late = std::span(seen.picked).last(seen.n_dropped);
         PLUMB_TRY(decoder->forward(late));
         return {};
       }},
      {"late_tokens_kept", "in the history, behind a cancel",
       [](pipeline::Pipeline& pipeline, Conversation& conversation,
          const TurnSeen& seen) -> Result<void> {
         if (seen.stop_reason != "CANCELLED") return {};
         PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, pipeline.tokenizer());
         PLUMB_ASSIGN(const std::string text, tokenizer->decode(seen.picked));
         return with_messages(conversation, [&](std::vector<OrderedJson>& messages) {
           if (!ends_with_answer(messages) || messages.back()["content"] == text) return false;
           messages.back()["content"] = text;
           return true;
         });
       }},
      {"text_doubled", "in the history",
       [](pipeline::Pipeline&, Conversation& conversation, const TurnSeen&) {
         return with_messages(conversation, [](std::vector<OrderedJson>& messages) {
           if (!ends_with_answer(messages)) return false;
           const std::string text = messages.back()["content"];
           messages.back()["content"] = text + text;
           return true;
         });
       }},
      {"answer_lost", "not written down",
       [](pipeline::Pipeline&, Conversation& conversation, const TurnSeen&) {
         return with_messages(conversation, [](std::vector<OrderedJson>& messages) {
           if (!ends_with_answer(messages)) return false;
           messages.pop_back();
           return true;
         });
       }},
  };
  return kMutants;
}

}  // namespace plumbline::test
