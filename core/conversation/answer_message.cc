#include "core/conversation/answer_message.h"

#include <algorithm>

#include "core/pipeline/continued_turn.h"

namespace plumbline::conversation {
namespace {

// Nine letters and digits, as one family of templates demands; no two in a conversation are equal.
std::string call_id(uint64_t n_answers, size_t index) {
  constexpr uint64_t kCallsMax = 100;  // of one answer
  const std::string number = std::to_string(kCallsMax * n_answers + index % kCallsMax);
  return "call" + std::string(number.size() < 5 ? 5 - number.size() : 0, '0') + number;
}

}  // namespace

Result<OrderedJson> answer_message(const OrderedJson& begun, const pipeline::ParsedAnswer& said,
                                   uint64_t n_answers) {
  OrderedJson message = begun;
  if (begun.is_null()) {
    message = {{"role", "assistant"}, {"content", said.content}};
  } else {
    OrderedJson* const text = pipeline::text_to_continue(message);
    if (text == nullptr || !text->is_string()) {
      return Error{PLUMB_INVALID_ARGUMENT,
                   "the assistant's message that is to go on has no text, expected one"};
    }
    text->get_ref<std::string&>() += said.content;
  }
  if (!said.reasoning.empty()) {
    OrderedJson& thoughts = message["reasoning_content"];
    thoughts = (thoughts.is_string() ? thoughts.get<std::string>() : "") + said.reasoning;
  }
  if (said.tool_calls.empty()) return message;
  OrderedJson& calls = message["tool_calls"] = OrderedJson::array();
  for (const OrderedJson& call : said.tool_calls) {
    calls.push_back(
        {{"id", call_id(n_answers, calls.size())}, {"type", "function"}, {"function", call}});
  }
  return message;
}

bool calls_tools(const OrderedJson& message) {
  const auto calls = message.find("tool_calls");
  return is_answer(message) && calls != message.end() && !calls->empty();
}

Result<void> join_results(const OrderedJson& message, std::vector<OrderedJson>& results) {
  const OrderedJson& calls = message["tool_calls"];
  const auto is_result = [](const OrderedJson& one) {
    return one["role"] == "tool" || one["role"] == "function" || one["role"] == "ipython";
  };
  if (results.size() != calls.size() || !std::ranges::all_of(results, is_result)) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 std::to_string(results.size()) + " messages for " + std::to_string(calls.size()) +
                     " calls that wait: expected one of role tool for each"};
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const auto id = calls[i].find("id");
    if (id != calls[i].end() && !results[i].contains("tool_call_id"))
      results[i]["tool_call_id"] = *id;
  }
  return {};
}

}  // namespace plumbline::conversation
