// chat_lines.h: a conversation with a program, or with a person at a terminal that knows only
// lines.
#pragma once

#include <string_view>

#include "core/cli/chat/chat.h"

namespace plumbline::cli {

struct LinesOptions {
  bool is_json = false;  // each line is a JSON string
  bool is_once = false;  // all of stdin is one entry
  std::string_view prompt = {};  // written to stdout before each entry
};

/// Takes an entry from each line of stdin: a backslash at a line's end goes on with the next one.
/// SIGINT, SIGTERM and SIGHUP cancel the answer that is being made and end the conversation. The
/// exit code: of the first failure, if there was one.
int chat_in_lines(Chat& chat, ChatView& view, const LinesOptions& options);

}  // namespace plumbline::cli
