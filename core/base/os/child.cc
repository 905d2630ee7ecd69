#include "core/base/os/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

namespace plumbline::os {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{100};

Result<std::pair<Fd, Fd>> make_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error("socketpair", errno);
  return std::pair<Fd, Fd>{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

Result<std::unique_ptr<Child>> Child::start(const std::vector<std::string>& argv) {
  PLUMB_ASSIGN(auto in, make_sockets());
  PLUMB_ASSIGN(auto out, make_pipe());
  PLUMB_ASSIGN(auto err, make_pipe());
  PLUMB_ASSIGN(const pid_t pid, spawn(argv, in.second.get(), out.second.get(), err.second.get()));
  return std::unique_ptr<Child>(
      new Child(pid, std::move(in.first), std::move(out.first), std::move(err.first)));
}

Child::~Child() {
  kill_group(pid_);
}

void Child::drain_errors() {
  constexpr int kReadsMax = 64;  // 1 MiB: the largest pipe that Linux gives an ordinary user
  std::array<char, 16384> piece;
  for (int i = 0; i < kReadsMax && err_.is_open(); ++i) {
    const ssize_t n = ::read(err_.get(), piece.data(), piece.size());
    if (n > 0) {
      errors_.append(piece.data(), static_cast<size_t>(n));
      if (errors_.size() > kErrorsKept) errors_.erase(0, errors_.size() - kErrorsKept);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      err_.close();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

Error Child::ended() {
  // Streams close a moment before the process is gone.
  Ending ending;
  for (int i = 0; i < 50 && !has_ended(pid_, &ending); ++i)
    std::this_thread::sleep_for(milliseconds(10));
  drain_errors();
  return {PLUMB_INTERNAL, has_ended(pid_, &ending)
                              ? "the program has ended: " + describe(ending)
                              : "the program has closed its streams and still runs"};
}

Result<void> Child::wait(Need need, const Deadline& deadline) {
  for (;;) {
    const auto now = Deadline::Clock::now();
    if (now >= deadline.end) {
      drain_errors();
      const auto limit = std::chrono::duration_cast<milliseconds>(deadline.end - deadline.start);
      return Error{PLUMB_INTERNAL,
                   "no answer within " + std::to_string(limit.count()) + " ms, the time limit"};
    }
    const auto waited = std::chrono::duration_cast<milliseconds>(now - deadline.start);
    if (deadline.on_wait && deadline.on_wait(waited)) return Error{PLUMB_CANCELLED, "cancelled"};
    pollfd waits[2] = {{need == Need::kInput ? in_.get() : out_.get(),
                        static_cast<short>(need == Need::kInput ? POLLOUT : POLLIN), 0},
                       {err_.get(), POLLIN, 0}};
    const auto left = std::chrono::ceil<milliseconds>(deadline.end - now);
    ::poll(waits, 2, static_cast<int>(std::min(left, kTick).count()));
    drain_errors();
    if (waits[0].revents != 0) return {};
    // A grandchild can hold the streams open for ever.
    if (Ending ending; has_ended(pid_, &ending)) return ended();
  }
}

Result<void> Child::write(std::string_view bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    PLUMB_TRY(wait(Need::kInput, deadline));
    const ssize_t n = ::send(in_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
      return ended();
    }
  }
  return {};
}

Result<void> Child::fill(const Deadline& deadline) {
  for (;;) {
    PLUMB_TRY(wait(Need::kOutput, deadline));
    std::array<char, 65536> piece;
    const ssize_t n = ::read(out_.get(), piece.data(), piece.size());
    if (n > 0) {
      buffer_.append(piece.data(), static_cast<size_t>(n));
      return {};
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) return ended();
  }
}

Result<void> Child::read(std::span<char> bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    if (buffer_.empty()) PLUMB_TRY(fill(deadline));
    const size_t n = std::min(bytes.size(), buffer_.size());
    std::memcpy(bytes.data(), buffer_.data(), n);
    buffer_.erase(0, n);
    bytes = bytes.subspan(n);
  }
  return {};
}

Result<std::string> Child::read_line(size_t bytes_max, const Deadline& deadline) {
  for (size_t seen = 0;;) {
    const size_t end = buffer_.find('\n', seen);
    if (std::min(end, buffer_.size()) > bytes_max) {
      return Error{PLUMB_CORRUPT,
                   "a line longer than " + std::to_string(bytes_max) + " bytes, the most"};
    }
    if (end != buffer_.npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    seen = buffer_.size();
    PLUMB_TRY(fill(deadline));
  }
}

bool Child::finish(std::chrono::milliseconds limit) {
  in_.close();
  out_.close();
  const Deadline deadline(limit);
  Ending ending;
  while (!has_ended(pid_, &ending)) {
    if (Deadline::Clock::now() >= deadline.end) return false;
    drain_errors();
    std::this_thread::sleep_for(milliseconds(5));
  }
  drain_errors();
  return true;
}

}  // namespace plumbline::os
