// spawn.h: a program started in a process group of its own; what process.h and child.h share.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::os {

/// A descriptor that is closed with its object.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { close(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

/// INTERNAL: "what: the system's reason".
Error system_error(const std::string& what, int number);

/// A pipe's reading end, which does not block, and its writing end, which does.
Result<std::pair<Fd, Fd>> make_pipe();

/// Starts argv[0] (looked up in PATH if it has no slash) with this process's environment, a process
/// group of its own, and signals as a fresh program expects them. in: -1 for an empty standard
/// input. Fails NOT_FOUND if the program cannot be started.
Result<pid_t> spawn(const std::vector<std::string>& argv, int in, int out, int err);

/// How a process ended, while it stays a zombie, so that its group's number cannot be used anew.
struct Ending {
  bool is_signal = false;
  int code = 0;  // the exit status, or the signal's number
};

/// True if the child has ended; its ending then.
bool has_ended(pid_t child, Ending* ending);

/// Kills the child's whole group and waits for the child's end.
void kill_group(pid_t child);

/// "exit status 3", "killed by signal 11 (Segmentation fault)".
std::string describe(const Ending& ending);

}  // namespace plumbline::os
