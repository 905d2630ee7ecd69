// chat_terminal.h: a conversation at a terminal.
#pragma once

#include <memory>

#include "core/base/os/terminal.h"
#include "core/cli/chat/chat.h"
#include "core/cli/chat/chat_view.h"
#include "core/editor/line_history.h"

namespace plumbline::cli {

/// Thinking is dim and apart; words are not broken. is_quiet: no line below an answer.
std::unique_ptr<ChatView> make_terminal_view(os::Terminal& terminal, bool has_styles,
                                             bool is_quiet);

/// Takes entries and lets the chat answer them, until one leaves. The exit code.
int chat_at_terminal(Chat& chat, os::Terminal& terminal, editor::LineHistory& history,
                     bool has_styles);

}  // namespace plumbline::cli
