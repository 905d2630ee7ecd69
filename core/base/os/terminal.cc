#include "core/base/os/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <iterator>

#include "core/base/os/spawn.h"

namespace plumbline::os {
namespace {

using Mode = Terminal::Mode;

// xterm's mode 2004: a paste comes between two sequences.
constexpr std::string_view kPasteOn = "\x1b[?2004h";
constexpr std::string_view kPasteOff = "\x1b[?2004l";
constexpr std::string_view kPlain = "\x1b[0m";

struct Handled {
  int signal;
  void (*handler)(int);
};

/// What handlers of signals use. Written before they are installed, or atomic.
struct {
  termios original{};
  termios keys{};
  termios answer{};
  std::atomic<Mode> mode{Mode::kOriginal};
  void (*on_interrupt)() = nullptr;
  int wake_in = -1;  // a pipe, so that no signal slips in between a look and a wait
  int wake_out = -1;
  std::atomic<bool> is_resumed{false};
  std::atomic<bool> is_interrupted{false};
  std::atomic<bool> is_ended{false};
} shared;

static_assert(std::atomic<Mode>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a handler of a signal may not wait for a lock");

// All below down to `install` is called by handlers: only what POSIX allows there.

void write_now(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {  // another program has made the terminal so
      pollfd wait{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

bool enter(Mode from, Mode to) {
  if (from == Mode::kKeys && to != Mode::kKeys) write_now(kPasteOff);
  const termios& wanted = to == Mode::kKeys     ? shared.keys
                          : to == Mode::kAnswer ? shared.answer
                                                : shared.original;
  int result;
  // TCSADRAIN keeps keys that were pressed already.
  do {
    result = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &wanted);
  } while (result != 0 && errno == EINTR);
  if (from != Mode::kKeys && to == Mode::kKeys && result == 0) write_now(kPasteOn);
  return result == 0;
}

void wake() {
  const char byte = 0;
  const int kept = errno;
  [[maybe_unused]] const ssize_t n = ::write(shared.wake_in, &byte, 1);  // full: it is awake
  errno = kept;
}

void end_by(int signal) {
  if (shared.mode != Mode::kOriginal) write_now(kPlain);
  enter(shared.mode, Mode::kOriginal);
  ::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(signal);
}

void on_ending(int signal) {
  // The second one ends the process at once.
  if (shared.is_ended.exchange(true)) end_by(signal);
  if (shared.on_interrupt != nullptr) shared.on_interrupt();
  wake();
}

void on_interrupt(int) {
  shared.is_interrupted = true;
  if (shared.on_interrupt != nullptr) shared.on_interrupt();
  wake();
}

void on_window(int) {
  wake();
}

void install(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

void on_stop(int signal) {
  const int kept = errno;
  end_by(signal);  // and here it goes on
  enter(Mode::kOriginal, shared.mode);
  install(signal, on_stop);
  errno = kept;
}

void on_continue(int) {
  // Whoever stopped the process may have changed the terminal.
  enter(Mode::kOriginal, shared.mode);
  shared.is_resumed = true;
  wake();
}

constexpr Handled kHandled[] = {{SIGTERM, on_ending},  {SIGHUP, on_ending}, {SIGINT, on_interrupt},
                                {SIGWINCH, on_window}, {SIGTSTP, on_stop},  {SIGCONT, on_continue},
                                {SIGQUIT, end_by},     {SIGABRT, end_by},   {SIGSEGV, end_by},
                                {SIGBUS, end_by},      {SIGFPE, end_by},    {SIGILL, end_by}};

/// What the signals did before.
struct sigaction previous[std::size(kHandled)];

termios keys_mode(termios mode) {
  mode.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON);
  mode.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  return mode;
}

}  // namespace

bool is_terminal(Stream stream) {
  constexpr int kStreams[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  return ::isatty(kStreams[static_cast<size_t>(stream)]) == 1;
}

bool obeys_sequences() {
  const char* name = std::getenv("TERM");
  return name != nullptr && *name != '\0' && std::string_view(name) != "dumb";
}

Result<std::unique_ptr<Terminal>> Terminal::open(const Options& options) {
  if (::tcgetattr(STDIN_FILENO, &shared.original) != 0) return system_error("tcgetattr", errno);
  int wake[2];
  if (::pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0) return system_error("pipe", errno);
  shared.wake_out = wake[0];
  shared.wake_in = wake[1];
  shared.keys = keys_mode(shared.original);
  shared.answer = shared.keys;
  shared.answer.c_lflag |= ISIG;
  shared.on_interrupt = options.on_interrupt;
  shared.is_resumed = shared.is_interrupted = shared.is_ended = false;
  for (size_t i = 0; i < std::size(kHandled); ++i) {
    ::sigaction(kHandled[i].signal, nullptr, &previous[i]);
    // What is ignored stays so (nohup), and a sanitizer keeps its crashes.
    if (previous[i].sa_handler == SIG_DFL) install(kHandled[i].signal, kHandled[i].handler);
  }
  return std::unique_ptr<Terminal>(new Terminal);
}

Terminal::~Terminal() {
  (void)set_mode(Mode::kOriginal);
  for (size_t i = 0; i < std::size(kHandled); ++i)
    ::sigaction(kHandled[i].signal, &previous[i], nullptr);
  ::close(shared.wake_in);
  ::close(shared.wake_out);
}

Result<void> Terminal::set_mode(Mode mode) {
  const Mode from = shared.mode.exchange(mode);
  if (from == mode) return {};
  if (!enter(from, mode)) return system_error("tcsetattr", errno);
  return {};
}

WindowSize Terminal::size() const {
  winsize told{};
  WindowSize size;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &told) != 0) return size;
  if (told.ws_col > 0) size.n_columns = told.ws_col;
  if (told.ws_row > 0) size.n_rows = told.ws_row;
  return size;
}

Terminal::Happened Terminal::take_signals() {
  std::array<char, 64> bytes;
  while (::read(shared.wake_out, bytes.data(), bytes.size()) > 0) {
  }
  return {.bytes = {},
          .is_timed_out = false,
          .is_resumed = shared.is_resumed.exchange(false),
          .is_interrupted = shared.is_interrupted.exchange(false),
          .is_ended = shared.is_ended.load()};
}

Terminal::Happened Terminal::wait(std::chrono::milliseconds limit) {
  pollfd waits[2] = {{STDIN_FILENO, POLLIN, 0}, {shared.wake_out, POLLIN, 0}};
  const int n = ::poll(waits, 2, static_cast<int>(std::clamp<int64_t>(limit.count(), -1, 1 << 30)));
  Happened happened = take_signals();
  happened.is_timed_out = n == 0;
  if (n <= 0 || waits[0].revents == 0) return happened;
  std::array<char, 65536> bytes;
  const ssize_t n_read = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (n_read > 0) happened.bytes.assign(bytes.data(), static_cast<size_t>(n_read));
  if (n_read == 0 || (n_read < 0 && errno != EINTR && errno != EAGAIN)) happened.is_ended = true;
  return happened;
}

void Terminal::write(std::string_view bytes) {
  write_now(bytes);
}

void Terminal::suspend() {
  ::kill(0, SIGTSTP);
  shared.is_resumed = false;
}

}  // namespace plumbline::os
