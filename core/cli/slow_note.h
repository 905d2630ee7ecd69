// slow_note.h: a line for whoever waits.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace plumbline::cli {

/// While it lives, and once that is longer than two seconds, says on stderr what is being done and
/// for how long already: "loading the model, 3 s". Nothing where stderr is no terminal.
class SlowNote {
 public:
  explicit SlowNote(std::string what);
  ~SlowNote();

 private:
  void tick();

  const std::string what_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace plumbline::cli
