#include "core/base/os/process.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/base/os/spawn.h"

namespace plumbline::os {
namespace {

using Clock = std::chrono::steady_clock;

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

}  // namespace

std::string RunResult::describe() const {
  switch (end) {
    case End::kExited:
    case End::kSignalled:
      return os::describe(Ending{end == End::kSignalled, code});
    case End::kTimedOut:
      return "no end within the time limit";
    case End::kCancelled:
      return "cancelled";
  }
  return {};
}

Result<RunResult> run(const std::vector<std::string>& argv, const RunOptions& options) {
  PLUMB_ASSIGN(auto out_pipe, make_pipe());
  PLUMB_ASSIGN(auto err_pipe, make_pipe());
  PLUMB_ASSIGN(const pid_t child, spawn(argv, -1, out_pipe.second.get(), err_pipe.second.get()));
  out_pipe.second.close();
  err_pipe.second.close();

  RunResult result;
  Stream streams[2] = {{std::move(out_pipe.first), &options.on_stdout, &result.out},
                       {std::move(err_pipe.first), &options.on_stderr, &result.err}};
  const Clock::time_point deadline = Clock::now() + options.timeout;
  Ending ending;
  // The pipes' ends wake the loop; the ticks are for a child that lives on without them, or that is
  // outlived by a grandchild that holds them.
  while (!has_ended(child, &ending)) {
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
  kill_group(child);
  for (Stream& stream : streams) stream.drain(options.capture_bytes, &result.is_cut);

  if (result.end == RunResult::End::kExited) {
    if (ending.is_signal) result.end = RunResult::End::kSignalled;
    result.code = ending.code;
  }
  return result;
}

}  // namespace plumbline::os
