// answer_message.h: answers as messages of the history, and the results of the tools that they
// call.
#pragma once

#include <cstdint>
#include <vector>

#include "core/conversation/transcript.h"
#include "core/pipeline/output_parser.h"

namespace plumbline::conversation {

/// The assistant's message with what was said: content, reasoning_content and tool_calls as public
/// templates read them. begun: null, or the message that it goes on with. n_answers: before it;
/// calls get ids made of it. Fails INVALID_ARGUMENT: what was begun is no text.
Result<OrderedJson> answer_message(const OrderedJson& begun, const pipeline::ParsedAnswer& said,
                                   uint64_t n_answers);

/// Does a message end with calls that wait for their results?
bool calls_tools(const OrderedJson& message);

/// Names the calls that results answer, in their order, where the results do not. Fails
/// INVALID_ARGUMENT: other messages than the results of all calls, one each.
Result<void> join_results(const OrderedJson& message, std::vector<OrderedJson>& results);

}  // namespace plumbline::conversation
