#include "core/cli/chat/chat_lines.h"

#include <csignal>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace plumbline::cli {
namespace {

constexpr size_t kLineBytesMax = size_t{32} << 20;  // no end of memory for a line without end

// For the handler of signals; set while an answer is being made.
std::atomic<Chat*> answering{nullptr};
std::atomic<bool> is_interrupted{false};

void on_signal(int signal) {
  is_interrupted = true;
  if (Chat* chat = answering) chat->interrupt();
  std::signal(signal, SIG_DFL);  // the second one ends the process
}

/// Between entries a signal ends the process, as it does with any filter.
class CaughtSignals {
 public:
  explicit CaughtSignals(Chat& chat) {
    answering = &chat;
    for (const int signal : kSignals) {
      // nohup has one ignored: that stays.
      if (std::signal(signal, on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
    }
  }
  ~CaughtSignals() {
    for (const int signal : kSignals) {
      if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
    }
    answering = nullptr;
  }
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
};

/// A line without its end. Nothing: stdin has ended, or the line is too long.
std::optional<std::string> read_line() {
  std::string line;
  char byte = 0;
  while (std::cin.get(byte)) {
    if (byte == '\n') return line;
    line += byte;
    if (line.size() > kLineBytesMax) {
      stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                    "stdin: a line of more than " + std::to_string(kLineBytesMax) + " bytes"});
    }
  }
  // A folder can be opened, but not read. std::cin takes that for the end.
  if (std::ferror(stdin) != 0) stop(kModelFile, {PLUMB_NOT_FOUND, "stdin: cannot be read"});
  if (line.empty()) return {};
  return line;
}

std::optional<std::string> read_entry(bool is_json) {
  std::optional<std::string> line = read_line();
  if (is_json) return line;
  while (line && line->ends_with('\\')) {
    line->back() = '\n';
    const std::optional<std::string> more = read_line();
    if (!more) break;
    *line += *more;
  }
  return line;
}

/// The text of a JSON string; nothing, and an error shown, if it is none.
std::optional<std::string> parse_entry(const std::string& line, ChatView& view) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (json.is_string()) return json.get<std::string>();
  view.failed(
      {PLUMB_INVALID_ARGUMENT, "stdin: expected a line with a JSON string, for example \"Hello\""});
  return {};
}

}  // namespace

int chat_in_lines(Chat& chat, ChatView& view, const LinesOptions& options) {
  int exit = kDone;
  const auto enter = [&](const std::string& entry) {
    const CaughtSignals caught(chat);
    chat.enter(entry);
  };
  if (options.is_once) {
    std::string all = read_all("-");
    while (all.ends_with('\n')) all.pop_back();
    enter(all);
  }
  while (!options.is_once && !chat.is_over() && !is_interrupted) {
    print(options.prompt);
    std::optional<std::string> entry = read_entry(options.is_json);
    if (!entry) break;
    if (options.is_json) entry = parse_entry(*entry, view);
    if (!entry) exit = kUsage;
    if (entry) enter(*entry);
  }
  if (is_interrupted) return kInterrupted;
  return exit == kDone ? chat.exit() : exit;
}

}  // namespace plumbline::cli
