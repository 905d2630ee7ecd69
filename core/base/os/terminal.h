// terminal.h: the terminal that a person sits at: keys as they are pressed, the window's size, and
// what is sent to this process meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "plumb/sdk/result.h"

namespace plumbline::os {

enum class Stream { kInput, kOutput, kErrors };
/// Whether one of the three standard streams is a terminal.
bool is_terminal(Stream stream);
/// Whether TERM names a terminal that obeys control sequences (ECMA-48).
bool obeys_sequences();

struct WindowSize {
  uint32_t n_columns = 80;
  uint32_t n_rows = 24;
};

/// Standard input and output, which must be terminals. One at a time in a process.
///
/// The terminal is as it was before, and its style plain, whenever this process does not use it:
/// after the object, while the process is stopped (Ctrl-Z) and when a signal ends it. Only SIGKILL
/// and SIGSTOP leave it as it is.
class Terminal {
 public:
  enum class Mode {
    kOriginal,
    kKeys,  // keys come as they are pressed, none is a signal; pastes come in brackets
    kAnswer,  // keys wait and are not shown; Ctrl-C, Ctrl-Z and Ctrl-\ are signals
  };

  struct Options {
    /// Called from the handler of SIGINT, SIGTERM and SIGHUP: it must be fit for that. Null: none.
    void (*on_interrupt)() = nullptr;
  };

  /// Fails INTERNAL if the system refuses.
  static Result<std::unique_ptr<Terminal>> open(const Options& options);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  Result<void> set_mode(Mode mode);
  /// 80 by 24 where the system does not tell; at least one each.
  WindowSize size() const;

  struct Happened {
    std::string bytes;  // of keys
    bool is_timed_out = false;  // the time was over, and nothing else
    /// Back from a stop: others may have written meanwhile, what is shown is to be painted anew.
    bool is_resumed = false;
    bool is_interrupted = false;  // SIGINT
    bool is_ended = false;  // SIGTERM, SIGHUP, or the terminal is gone
  };
  /// Waits until something happens, another size too, or the time is over; below 0: without end.
  Happened wait(std::chrono::milliseconds limit);
  /// What was sent until now, without waiting; keys are left where they are.
  Happened take_signals();

  /// What is written to a terminal that is gone is lost.
  void write(std::string_view bytes);
  /// Stops this process and its group, as Ctrl-Z does, and returns when it goes on; that is no
  /// is_resumed then.
  void suspend();

 private:
  Terminal() = default;
};

}  // namespace plumbline::os
