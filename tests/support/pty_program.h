// pty_program.h: a program at a terminal of its own: a test types and looks at its window.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/screen.h"

namespace plumbline::test {

class PtyProgram {
 public:
  /// Starts argv[0], looked up in PATH if it has no slash. environment: NAME=VALUE, over this
  /// process's own; TERM is xterm unless it says otherwise.
  PtyProgram(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
             size_t n_columns = 80, size_t n_rows = 24);
  PtyProgram(const PtyProgram&) = delete;
  PtyProgram& operator=(const PtyProgram&) = delete;
  /// Kills what still runs.
  ~PtyProgram();

  void type(std::string_view bytes);
  void resize(size_t n_columns, size_t n_rows);
  void signal(int number);

  /// Reads until the window is as wanted; false (and a failure of the test) if it does not become
  /// so, or the program ends before.
  bool wait_until(const std::function<bool(const Screen& screen)>& is_so, const char* what);
  /// Until all that was written contains the text, behind what was looked at already.
  bool wait_for(std::string_view text);
  /// Reads until the program has ended: its exit status, or 128 and the signal's number.
  int wait_for_end();

  const Screen& screen() const { return screen_; }
  /// Every byte that the program wrote.
  const std::string& written() const { return written_; }
  /// Whether a shell would find the terminal as it was: lines, echo, signals, no brackets of
  /// pastes.
  bool is_terminal_sane() const;

 private:
  /// False: the program's end of the terminal is closed.
  bool read_some(int limit_ms);

  pid_t pid_ = -1;
  int fd_ = -1;
  Screen screen_;
  std::string written_;
  size_t seen_ = 0;
};

}  // namespace plumbline::test
