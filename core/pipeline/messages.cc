#include "core/pipeline/messages.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "core/pipeline/continued_turn.h"
#include "core/pipeline/message_checks.h"

namespace plumbline::pipeline {
namespace {

// Their words are the operator's.
constexpr std::array<std::string_view, 2> kOperatorRoles = {"system", "developer"};
// The words of the others are strangers'; the names of these roles are nobody's.
constexpr std::array<std::string_view, 6> kKnownRoles = {"user",      "tool",  "function",
                                                         "assistant", "model", "ipython"};
// Variables that public templates ask for and callers seldom give.
constexpr std::array<const char*, 4> kOptionalVariables = {"tools", "documents", "builtin_tools",
                                                           "tools_in_user_message"};

bool is_one_of(std::string_view word, auto&& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_assistant(const OrderedJson& message) {
  return message["role"] == "assistant" || message["role"] == "model";
}

// A template that asks whether a key is there is right about its absence; to fill it would change
// the answer. Source: the two ways in which public templates ask.
bool asks_for(std::string_view source, const std::string& key) {
  const std::initializer_list<std::string> questions = {
      "'" + key + "' in ",        "\"" + key + "\" in ",  "'" + key + "' not in ",
      "\"" + key + "\" not in ",  key + " is defined",    key + " is not defined",
      key + "'] is defined",      key + "\"] is defined", key + "'] is not defined",
      key + "\"] is not defined", key + " is undefined"};
  return std::any_of(questions.begin(), questions.end(), [&](const std::string& question) {
    return source.find(question) != std::string_view::npos;
  });
}

void fill(OrderedJson& object, const char* key, OrderedJson none, std::string_view source) {
  if (!object.contains(key) && !asks_for(source, key)) object[key] = std::move(none);
}

void mark_message(const OrderedJson& message, const std::string& at, bool trusts_assistant,
                  std::vector<std::string>& untrusted) {
  const auto role = message["role"].get<std::string_view>();
  if (is_one_of(role, kOperatorRoles)) return;
  const bool is_own = is_assistant(message) && trusts_assistant;
  for (const auto& [key, value] : message.items()) {
    if (key == "role") {
      if (!is_one_of(role, kKnownRoles)) untrusted.push_back(at + "/role");
    } else if (!is_own || key == "tool_calls") {
      untrusted.push_back(at + "/" + key);  // a name: check_conversation
    }
  }
}

std::vector<std::string> untrusted_pointers(const OrderedJson& context, bool trusts_assistant) {
  std::vector<std::string> untrusted;
  size_t index = 0;
  for (const OrderedJson& message : context["messages"]) {
    mark_message(message, "/messages/" + std::to_string(index++), trusts_assistant, untrusted);
  }
  for (const char* key : {"tools", "documents"}) {
    if (context.contains(key) && !context[key].is_null())
      untrusted.push_back(std::string("/") + key);
  }
  return untrusted;
}

void add_directive(OrderedJson& messages, const std::string& directive) {
  if (directive.empty()) return;
  if (!messages.empty() && messages[0]["role"] == "system" && messages[0]["content"].is_string()) {
    auto& content = messages[0]["content"].get_ref<std::string&>();
    content = content.empty() ? directive : directive + "\n\n" + content;
    return;
  }
  messages.insert(messages.begin(), OrderedJson{{"role", "system"}, {"content", directive}});
}

// What was asked for, in the request or by the caller's own variables, which are taken out.
Result<FinalTurn> final_turn(OrderedJson& context, FinalTurn asked) {
  const auto flag = [&](const char* key) -> Result<std::optional<bool>> {
    if (!context.contains(key)) return std::optional<bool>();
    if (!context[key].is_boolean())
      return Error{PLUMB_INVALID_ARGUMENT, std::string(key) + ": expected true or false"};
    return std::optional<bool>(context[key].get<bool>());
  };
  PLUMB_ASSIGN(const std::optional<bool> continues, flag("continue_final_message"));
  PLUMB_ASSIGN(const std::optional<bool> opens, flag("add_generation_prompt"));
  context.erase("continue_final_message");
  if (asked != FinalTurn::kAuto) return asked;
  if (continues.value_or(false)) {
    if (opens.value_or(false)) {
      return Error{PLUMB_INVALID_ARGUMENT,
                   "continue_final_message beside add_generation_prompt, expected one of the two"};
    }
    return FinalTurn::kContinue;
  }
  if (opens) return *opens ? FinalTurn::kAnswer : FinalTurn::kClosed;
  const OrderedJson& messages = context["messages"];
  const bool is_begun =
      !messages.empty() && is_assistant(messages.back()) && can_continue(messages.back());
  return is_begun ? FinalTurn::kContinue : FinalTurn::kAnswer;
}

}  // namespace

Result<ChatContext> chat_context(OrderedJson input, const ContextRequest& request) {
  PLUMB_TRY(check_conversation(input));
  ChatContext context;
  context.json = input.is_array() ? OrderedJson{{"messages", std::move(input)}} : std::move(input);
  PLUMB_ASSIGN(const FinalTurn turn, final_turn(context.json, request.final_turn));
  OrderedJson& messages = context.json["messages"];  // until the next variable is added
  if (turn == FinalTurn::kContinue) {
    PLUMB_ASSIGN(context.continued, mark_continued(messages));
  }
  for (OrderedJson& message : messages) {
    if (!is_assistant(message)) continue;
    fill(message, "content", "", request.template_source);
    fill(message, "tool_calls", OrderedJson::array(), request.template_source);
    fill(message, "reasoning_content", nullptr, request.template_source);
  }
  add_directive(messages, request.directive);

  context.json["add_generation_prompt"] = turn == FinalTurn::kAnswer;
  for (const char* key : kOptionalVariables)
    fill(context.json, key, nullptr, request.template_source);
  if (request.thinking) context.json["enable_thinking"] = *request.thinking;
  for (const auto& [name, literal] : request.tokens) context.json.emplace(name, literal);
  context.json.emplace("bos_token", "");
  context.json.emplace("eos_token", "");
  context.untrusted = untrusted_pointers(context.json, request.trusts_assistant);
  return context;
}

}  // namespace plumbline::pipeline
