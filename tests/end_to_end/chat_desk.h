// chat_desk.h: `plumb chat` with the tiny model at a terminal of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/end_to_end/plumb_command.h"
#include "tests/support/pty_program.h"

namespace plumbline::test {

class ChatDesk : public PlumbCommand {
 protected:
  /// Greedy and in f32, so that answers are those of golden/models/tiny-world. Waits for the
  /// prompt.
  std::unique_ptr<PtyProgram> sit_down(const std::vector<std::string>& options = {},
                                       size_t n_columns = 80, size_t n_rows = 24,
                                       const std::vector<std::string>& environment = {}) const;
  /// A command line of plumb, with the tiny model, for a terminal.
  std::vector<std::string> command(const std::string& verb,
                                   const std::vector<std::string>& options) const;
  /// Options of an answer that goes on until it is cancelled.
  static std::vector<std::string> endless();

  std::string history() const { return path("state/plumbline/chat_history"); }
};

/// Of golden/models/tiny-world/greedy.jsonl.
inline constexpr const char* kQuestion = "Who is Captain?";
inline constexpr const char* kAnswer = "Captain is a one-eyed gull. Captain belongs to Lukas.";

}  // namespace plumbline::test
