#include "tests/support/pty_program.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

namespace plumbline::test {
namespace {

constexpr std::chrono::seconds kLimit{120};  // only against a hang

using Clock = std::chrono::steady_clock;

}  // namespace

PtyProgram::PtyProgram(const std::vector<std::string>& argv,
                       const std::vector<std::string>& environment, size_t n_columns, size_t n_rows)
    : screen_(n_columns, n_rows) {
  winsize size{static_cast<unsigned short>(n_rows), static_cast<unsigned short>(n_columns), 0, 0};
  pid_ = ::forkpty(&fd_, nullptr, nullptr, &size);
  if (pid_ == 0) {
    std::vector<char*> arguments;
    for (const std::string& argument : argv)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::setenv("TERM", "xterm", 1);
    for (const std::string& variable : environment) {
      const size_t end = variable.find('=');
      ::setenv(variable.substr(0, end).c_str(), variable.c_str() + end + 1, 1);
    }
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  EXPECT_GT(pid_, 0);
}

PtyProgram::~PtyProgram() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(fd_);
}

void PtyProgram::type(std::string_view bytes) {
  while (!bytes.empty()) {
    // A terminal takes some kilobytes at once; what the program writes must be read meanwhile.
    pollfd wait{fd_, POLLOUT, 0};
    if (::poll(&wait, 1, 0) > 0 && (wait.revents & POLLOUT) != 0) {
      const ssize_t n = ::write(fd_, bytes.data(), std::min<size_t>(bytes.size(), 1024));
      if (n < 0) return;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    if (!read_some(bytes.empty() ? 0 : 1)) return;
  }
}

void PtyProgram::resize(size_t n_columns, size_t n_rows) {
  // What was painted for the old size comes before what is painted for the new one.
  while (read_some(50)) {
    pollfd wait{fd_, POLLIN, 0};
    if (::poll(&wait, 1, 50) <= 0) break;
  }
  screen_.resize(n_columns, n_rows);
  winsize size{static_cast<unsigned short>(n_rows), static_cast<unsigned short>(n_columns), 0, 0};
  ::ioctl(fd_, TIOCSWINSZ, &size);
}

void PtyProgram::signal(int number) {
  ::kill(pid_, number);
}

bool PtyProgram::read_some(int limit_ms) {
  pollfd wait{fd_, POLLIN, 0};
  if (::poll(&wait, 1, limit_ms) <= 0) return true;
  std::array<char, 65536> bytes;
  const ssize_t n = ::read(fd_, bytes.data(), bytes.size());
  if (n <= 0) return n < 0 && (errno == EINTR || errno == EAGAIN);
  written_.append(bytes.data(), static_cast<size_t>(n));
  screen_.feed({bytes.data(), static_cast<size_t>(n)});
  return true;
}

bool PtyProgram::wait_until(const std::function<bool(const Screen& screen)>& is_so,
                            const char* what) {
  const auto end = Clock::now() + kLimit;
  while (!is_so(screen_)) {
    if (Clock::now() >= end || !read_some(100)) {
      ADD_FAILURE() << "never seen: " << what << "\nthe window:\n" << screen_.text_with_cursor();
      return false;
    }
  }
  return true;
}

bool PtyProgram::wait_for(std::string_view text) {
  const auto found = [&] { return written_.find(text, seen_); };
  const bool is_there =
      wait_until([&](const Screen&) { return found() != std::string::npos; }, text.data());
  if (is_there) seen_ = found() + text.size();
  return is_there;
}

int PtyProgram::wait_for_end() {
  const auto end = Clock::now() + kLimit;
  int status = 0;
  for (;;) {
    const bool is_open = read_some(20);
    if (::waitpid(pid_, &status, is_open ? WNOHANG : 0) == pid_) break;
    if (Clock::now() >= end) {
      ADD_FAILURE() << "no end; the window:\n" << screen_.text_with_cursor();
      return -1;
    }
  }
  while (read_some(0)) {
    pollfd wait{fd_, POLLIN, 0};
    if (::poll(&wait, 1, 0) <= 0) break;
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool PtyProgram::is_terminal_sane() const {
  termios mode{};
  if (::tcgetattr(fd_, &mode) != 0) return false;
  constexpr tcflag_t kWanted = ECHO | ICANON | ISIG;
  return (mode.c_lflag & kWanted) == kWanted && (mode.c_iflag & ICRNL) != 0 &&
         !screen_.is_paste_bracketed() && screen_.is_cursor_shown() && screen_.wraps();
}

}  // namespace plumbline::test
