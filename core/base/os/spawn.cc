#include "core/base/os/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace plumbline::os {

void Fd::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Error system_error(const std::string& what, int number) {
  return {PLUMB_INTERNAL, what + ": " + std::strerror(number)};
}

Result<std::pair<Fd, Fd>> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
  std::pair<Fd, Fd> pipe{Fd(ends[0]), Fd(ends[1])};
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return system_error("fcntl", errno);
  return pipe;
}

Result<pid_t> spawn(const std::vector<std::string>& argv, int in, int out, int err) {
  if (argv.empty()) return Error{PLUMB_INVALID_ARGUMENT, "no program to run"};
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (in < 0) {
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  }
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

bool has_ended(pid_t child, Ending* ending) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != child) {
    return false;
  }
  *ending = {info.si_code != CLD_EXITED, info.si_status};
  return true;
}

void kill_group(pid_t child) {
  ::kill(-child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string describe(const Ending& ending) {
  if (!ending.is_signal) return "exit status " + std::to_string(ending.code);
  return "killed by signal " + std::to_string(ending.code) + " (" + ::strsignal(ending.code) + ")";
}

}  // namespace plumbline::os
