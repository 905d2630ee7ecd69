// process.h: runs another program to its end, with its output as data and a limit on its time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::os {

struct RunOptions {
  /// The whole process group is killed when this has passed; 0: no limit.
  std::chrono::milliseconds timeout{0};
  /// Asked at least ten times a second; true kills the whole process group.
  std::function<bool()> cancelled = {};
  /// Called on the caller's thread with each piece as it comes; must not throw. Without one the
  /// stream is captured.
  std::function<void(std::string_view)> on_stdout = {};
  std::function<void(std::string_view)> on_stderr = {};
  /// How much of each captured stream is kept; the rest is read and dropped.
  uint64_t capture_bytes = 1u << 20;
};

struct RunResult {
  enum class End { kExited, kSignalled, kTimedOut, kCancelled };
  End end = End::kExited;
  int code = 0;  // kExited: the exit status. kSignalled: the signal's number
  std::string out;  // captured standard output
  std::string err;  // captured standard error
  bool is_cut = false;  // a captured stream was longer than capture_bytes

  bool succeeded() const { return end == End::kExited && code == 0; }
  /// "exit status 3", "killed by signal 11 (Segmentation fault)", "no end within the time limit",
  /// "cancelled".
  std::string describe() const;
};

/// Runs argv[0] (looked up in PATH if it has no slash) with an empty standard input, this process's
/// environment and a process group of its own. Returns when it has ended; whatever it left running
/// in its group is killed. Fails NOT_FOUND if the program cannot be started, INTERNAL if the system
/// refuses a pipe.
Result<RunResult> run(const std::vector<std::string>& argv, const RunOptions& options = {});

}  // namespace plumbline::os
