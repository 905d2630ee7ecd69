// slow_note.h: a line for whoever waits.
#pragma once

#include <string>
#include <thread>

namespace plumbline::cli {

/// While it lives, and once that is longer than two seconds, says on stderr what is being done and
/// for how long already: "loading the model, 3 s". Nothing where stderr is no terminal.
class SlowNote {
 public:
  explicit SlowNote(std::string what);

 private:
  void tick(const std::stop_token& token);

  std::string what_;
  std::jthread thread_;
};

}  // namespace plumbline::cli
