#include "core/diff/text_signatures/templates.h"

#include <algorithm>

#include "core/diff/text_signatures/diagnose.h"
#include "core/diff/text_signatures/json_values.h"
#include "plumb/sdk/white_space.h"

namespace plumbline::diff {
namespace {

using pipeline::FinalTurn;
using pipeline::OrderedJson;

std::vector<Conversation> template_probes(const Conversation& given) {
  // Written out: lists in braces can be read in two ways.
  const OrderedJson tool = OrderedJson::parse(R"({"type": "function", "function":
    {"name": "look_up", "description": "Looks a word up.",
     "parameters": {"type": "object", "properties": {"word": {"type": "string"}}}}})");
  const auto conversations = OrderedJson::parse(R"([
    [{"role": "user", "content": "Hello!"}],
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello!"}],
    [{"role": "user", "content": "One"}, {"role": "assistant", "content": "Two"},
     {"role": "user", "content": "Three"}],
    [{"role": "system", "content": " Be kind.\n"}, {"role": "user", "content": "  One \n"},
     {"role": "assistant", "content": "\nTwo  "}, {"role": "user", "content": "Three\n\n"}],
    [{"role": "user", "content": "Go on"}, {"role": "assistant", "content": "I will "}],
    [{"role": "user", "content": "Look oak up."},
     {"role": "assistant", "content": "",
      "tool_calls": [{"id": "call_1xyz", "type": "function",
                      "function": {"name": "look_up", "arguments": {"word": "oak"}}}]},
     {"role": "tool", "tool_call_id": "call_1xyz", "name": "look_up", "content": "a tree"}],
    [{"role": "user", "content": "Gr\u00fc\u00dfe \u4f60\u597d <|im_end|> {{ x }}"}]
  ])");
  std::vector<Conversation> probes;
  for (const OrderedJson& messages : conversations) {
    // The variables of the given one stay: templates may insist on them.
    Conversation probe = given;
    messages_of(probe.messages) = messages;
    if (probe.messages.is_object()) {
      for (const char* key : {"tools", "add_generation_prompt", "continue_final_message"})
        probe.messages.erase(key);
    }
    probes.push_back(probe);
    if (messages.size() != 3) continue;
    if (probe.messages.is_array()) {
      probe.messages = OrderedJson::object();
      probe.messages["messages"] = messages;
    }
    probe.messages["tools"] = OrderedJson::array({tool});
    probes.push_back(std::move(probe));
  }
  return probes;
}

Result<TemplateSide> with_conversation(const TemplateSide& a,
                                       std::function<void(Conversation&)> change) {
  return TemplateSide([a, change = std::move(change)](Conversation conversation) {
    change(conversation);
    return a(conversation);
  });
}

std::string stripped(const std::string& text) {
  size_t begin = 0;
  size_t end = text.size();
  while (begin < end && is_white_space(std::string_view(text).substr(begin, 1))) ++begin;
  while (end > begin && is_white_space(std::string_view(text).substr(end - 1, 1))) --end;
  return text.substr(begin, end - begin);
}

bool is_asked(const OrderedJson& conversation) {
  return conversation.is_object() && (conversation.contains("add_generation_prompt") ||
                                      conversation.contains("continue_final_message"));
}

// Whose messages a template may strip.
const std::vector<std::string> kStripped[] = {{"system", "user", "assistant", "tool"},
                                              {"user", "assistant", "tool"},
                                              {"system", "user", "assistant"},
                                              {"user", "assistant"},
                                              {"system", "user"},
                                              {"user"},
                                              {"assistant"},
                                              {"system"}};

void erase_role(Conversation& conversation, const char* role) {
  // The turn that comes next was chosen before.
  if (conversation.request.final_turn == FinalTurn::kAuto && !goes_on(conversation) &&
      !is_asked(conversation.messages))
    conversation.request.final_turn = FinalTurn::kAnswer;
  OrderedJson& messages = messages_of(conversation.messages);
  OrderedJson kept = OrderedJson::array();
  for (OrderedJson& message : messages) {
    if (text_at(message, "role") != role) kept.push_back(std::move(message));
  }
  messages = std::move(kept);
}

// The system's words in front of the first user's.
void merge_system(Conversation& conversation, const std::string& between) {
  std::string said;
  for (const OrderedJson& message : messages_of(conversation.messages)) {
    if (text_at(message, "role") == "system") said += text_at(message, "content");
  }
  if (said.empty()) return;
  erase_role(conversation, "system");
  for (OrderedJson& message : messages_of(conversation.messages)) {
    const OrderedJson* const content = member_of(message, "content");
    if (text_at(message, "role") != "user" || content == nullptr || !content->is_string()) continue;
    message["content"] = said + between + content->get<std::string>();
    return;
  }
}

}  // namespace

bool goes_on(const Conversation& conversation) {
  if (is_asked(conversation.messages) || conversation.request.final_turn != FinalTurn::kAuto)
    return conversation.request.final_turn == FinalTurn::kContinue;
  const OrderedJson& messages = messages_of(conversation.messages);
  return !messages.empty() && text_at(messages.back(), "role") == "assistant";
}

void add_conversation_hypotheses(const TemplateEvidence& evidence, TemplateHypotheses& out) {
  const auto add = [&](const char* signature, std::string statement,
                       std::function<void(Conversation&)> change) {
    out.push_back({signature, std::move(statement), [a = evidence.a, change = std::move(change)] {
                     return with_conversation(a, change);
                   }});
  };
  const auto final_turn = [](FinalTurn turn) {
    return [turn](Conversation& conversation) {
      if (conversation.messages.is_object()) {
        conversation.messages.erase("add_generation_prompt");
        conversation.messages.erase("continue_final_message");
      }
      conversation.request.final_turn = turn;
    };
  };
  add("generation_prompt_missing", "B does not open the assistant's turn, A does",
      [close = final_turn(FinalTurn::kClosed)](Conversation& conversation) {
        if (!goes_on(conversation)) close(conversation);
      });
  add("last_turn_continued", "B goes on with the last message, A does not",
      final_turn(FinalTurn::kContinue));
  add("last_turn_closed", "B ends with the last message and nothing else",
      final_turn(FinalTurn::kClosed));
  add("last_turn_answered", "B opens the assistant's turn also behind its own message",
      final_turn(FinalTurn::kAnswer));
  for (const bool is_on : {true, false}) {
    add("thinking_switched", std::string("B renders with thinking ") + (is_on ? "on" : "off"),
        [is_on](Conversation& conversation) { conversation.request.thinking = is_on; });
  }
  add("system_dropped", "B leaves the system message out",
      [](Conversation& conversation) { erase_role(conversation, "system"); });
  for (const char* between : {"\n\n", "\n", " ", ""}) {
    add("system_merged", "B puts the system message in front of the first user's words",
        [between](Conversation& conversation) { merge_system(conversation, between); });
  }
  for (const std::vector<std::string>& roles : kStripped) {
    add("content_stripped", "B strips white space around messages, A does not",
        [&roles](Conversation& conversation) {
          for (OrderedJson& message : messages_of(conversation.messages)) {
            const OrderedJson* const content = member_of(message, "content");
            if (std::ranges::count(roles, text_at(message, "role")) > 0 && content != nullptr &&
                content->is_string())
              message["content"] = stripped(content->get<std::string>());
          }
        });
  }
  add("tools_dropped", "B leaves the definitions of tools out", [](Conversation& conversation) {
    if (conversation.messages.is_object()) conversation.messages["tools"] = nullptr;
  });
  add("tool_calls_dropped", "B leaves calls of tools out", [](Conversation& conversation) {
    for (OrderedJson& message : messages_of(conversation.messages)) message.erase("tool_calls");
  });
  add("tool_answers_dropped", "B leaves answers of tools out",
      [](Conversation& conversation) { erase_role(conversation, "tool"); });
}

std::optional<Cause> diagnose_template(const TemplateEvidence& evidence) {
  std::vector<Conversation> inputs = {evidence.conversation};
  for (Conversation& probe : template_probes(evidence.conversation))
    inputs.push_back(std::move(probe));
  const Trial<Conversation, std::string> trial(evidence.a, evidence.b, std::move(inputs));
  if (!trial.is_open()) return std::nullopt;
  TemplateHypotheses hypotheses;
  add_conversation_hypotheses(evidence, hypotheses);
  add_byte_hypotheses(evidence, trial.first_a(), trial.first_b(), hypotheses);
  add_source_hypotheses(evidence, hypotheses);
  return trial.judge(hypotheses);
}

}  // namespace plumbline::diff
