#include "core/base/os/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

extern char** environ;

namespace plumbline::os {
namespace {

using Clock = std::chrono::steady_clock;

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
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

Error system_error(const std::string& what, int number) {
  return {PLUMB_INTERNAL, what + ": " + std::strerror(number)};
}

/// One output stream of the child: the pipe's reading end and where its bytes go.
struct Stream {
  Fd from;
  const std::function<void(std::string_view)>* callback = nullptr;
  std::string* captured = nullptr;

  void take(std::string_view piece, uint64_t limit, bool* is_cut) {
    if (*callback) return (*callback)(piece);
    const uint64_t room = limit - std::min<uint64_t>(limit, captured->size());
    *is_cut |= piece.size() > room;
    captured->append(piece.substr(0, room));
  }

  /// Reads until the pipe is empty for now or closed, but not for ever from a child that writes
  /// without end.
  void drain(uint64_t limit, bool* is_cut) {
    constexpr int kReadsMax = 64;  // 1 MiB: the largest pipe that Linux gives an ordinary user
    std::array<char, 16384> buffer;
    for (int i = 0; i < kReadsMax && from.is_open(); ++i) {
      const ssize_t n = ::read(from.get(), buffer.data(), buffer.size());
      if (n > 0) {
        take({buffer.data(), static_cast<size_t>(n)}, limit, is_cut);
      } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        from.close();
      } else if (errno == EAGAIN) {
        return;
      }
    }
  }
};

Result<std::pair<Fd, Fd>> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
  std::pair<Fd, Fd> pipe{Fd(ends[0]), Fd(ends[1])};
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return system_error("fcntl", errno);
  return pipe;
}

/// Starts argv in a process group of its own, with signals as a fresh program expects them.
Result<pid_t> spawn(const std::vector<std::string>& argv, int out, int err) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);

  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);

  pid_t child = -1;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0)
    return Error{PLUMB_NOT_FOUND, "cannot run " + argv[0] + ": " + std::strerror(failed)};
  return child;
}

/// True if the child has ended. It stays a zombie, so that its process group's number cannot be
/// used anew.
bool has_ended(pid_t child, siginfo_t* info) {
  info->si_pid = 0;
  return ::waitid(P_PID, static_cast<id_t>(child), info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info->si_pid == child;
}

void reap(pid_t child) {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

std::string RunResult::describe() const {
  switch (end) {
    case End::kExited:
      return "exit status " + std::to_string(code);
    case End::kSignalled:
      return "killed by signal " + std::to_string(code) + " (" + ::strsignal(code) + ")";
    case End::kTimedOut:
      return "no end within the time limit";
    case End::kCancelled:
      return "cancelled";
  }
  return {};
}

Result<RunResult> run(const std::vector<std::string>& argv, const RunOptions& options) {
  if (argv.empty()) return Error{PLUMB_INVALID_ARGUMENT, "no program to run"};
  PLUMB_ASSIGN(auto out_pipe, make_pipe());
  PLUMB_ASSIGN(auto err_pipe, make_pipe());
  PLUMB_ASSIGN(const pid_t child, spawn(argv, out_pipe.second.get(), err_pipe.second.get()));
  out_pipe.second.close();
  err_pipe.second.close();

  RunResult result;
  Stream streams[2] = {{std::move(out_pipe.first), &options.on_stdout, &result.out},
                       {std::move(err_pipe.first), &options.on_stderr, &result.err}};
  const Clock::time_point deadline = Clock::now() + options.timeout;
  siginfo_t info{};
  // The pipes' ends wake the loop; the ticks are for a child that lives on without them, or that is
  // outlived by a grandchild that holds them.
  while (!has_ended(child, &info)) {
    if (options.timeout.count() > 0 && Clock::now() >= deadline) {
      result.end = RunResult::End::kTimedOut;
      break;
    }
    if (options.cancelled && options.cancelled()) {
      result.end = RunResult::End::kCancelled;
      break;
    }
    pollfd waits[2];
    nfds_t n_waits = 0;
    for (const Stream& stream : streams) {
      if (stream.from.is_open()) waits[n_waits++] = {stream.from.get(), POLLIN, 0};
    }
    ::poll(waits, n_waits, n_waits == 2 ? 50 : 2);
    for (Stream& stream : streams) stream.drain(options.capture_bytes, &result.is_cut);
  }
  ::kill(-child, SIGKILL);
  reap(child);
  for (Stream& stream : streams) stream.drain(options.capture_bytes, &result.is_cut);

  if (result.end == RunResult::End::kExited) {
    if (info.si_code != CLD_EXITED) result.end = RunResult::End::kSignalled;
    result.code = info.si_status;
  }
  return result;
}

}  // namespace plumbline::os
