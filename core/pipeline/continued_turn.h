// continued_turn.h: a prompt that goes on with the last message instead of opening a new turn.
//
// The message gets a mark at its end, and the rendered prompt is cut where the mark came out, so
// that whatever the template writes behind a message is gone.
// Source  transformers 5.24, chat_template_utils.py, render_jinja_template.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "plumb/sdk/result.h"

namespace plumbline::pipeline {

/// The text of a message that is gone on with: its content, or the last text of its parts; null if
/// there is none.
nlohmann::ordered_json* text_to_continue(nlohmann::ordered_json& message);
bool can_continue(const nlohmann::ordered_json& message);

/// Marks the last message's text, or the last text of its parts, and returns that text. Fails
/// INVALID_ARGUMENT: no message, not the assistant's, or without a text.
Result<std::string> mark_continued(nlohmann::ordered_json& messages);

/// How many bytes of a rendered prompt stand before the mark. Where the template trimmed the
/// message, the white space before it goes too. Fails INVALID_ARGUMENT: the template left the mark
/// or the message out.
Result<size_t> continued_bytes(std::string_view rendered, std::string_view message);

}  // namespace plumbline::pipeline
