// child.h: another program with its three streams held open, for a conversation.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/os/spawn.h"
#include "plumb/sdk/result.h"

namespace plumbline::os {

/// Until when a conversation's next steps must have been made.
struct Deadline {
  using Clock = std::chrono::steady_clock;

  explicit Deadline(std::chrono::milliseconds limit,
                    std::function<bool(std::chrono::milliseconds waited)> asked = {})
      : start(Clock::now()), end(start + limit), on_wait(std::move(asked)) {}

  Clock::time_point start;
  Clock::time_point end;
  /// Asked at least ten times a second while there is nothing to do; true cancels. May be empty.
  std::function<bool(std::chrono::milliseconds waited)> on_wait;
};

/// Not safe for two threads at once. Every failure of write and read is final: the streams are then
/// at an unknown place.
class Child {
 public:
  /// Starts argv[0], looked up in PATH if it has no slash. Its standard input is a socket, so that
  /// writing to a program that has ended is an error and no signal.
  static Result<std::unique_ptr<Child>> start(const std::vector<std::string>& argv);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Kills the whole process group.
  ~Child();

  /// Fails INTERNAL: the program ended or closed its input; the time is up. CANCELLED.
  Result<void> write(std::string_view bytes, const Deadline& deadline);
  /// Fills all of bytes. Fails as write does.
  Result<void> read(std::span<char> bytes, const Deadline& deadline);
  /// The next line without its end. Fails as write does, and CORRUPT if it is longer than
  /// bytes_max.
  Result<std::string> read_line(size_t bytes_max, const Deadline& deadline);

  /// Closes the program's input and gives it some time to end by itself; true if it did.
  bool finish(std::chrono::milliseconds limit);

  /// The last kErrorsKept bytes of its standard error so far.
  const std::string& errors() const { return errors_; }
  static constexpr size_t kErrorsKept = 64u << 10;

 private:
  enum class Need { kInput, kOutput };

  Child(pid_t pid, Fd in, Fd out, Fd err)
      : pid_(pid), in_(std::move(in)), out_(std::move(out)), err_(std::move(err)) {}
  /// Waits until the stream can take or give something, reading standard error meanwhile.
  Result<void> wait(Need need, const Deadline& deadline);
  /// Reads what there is of standard error, but not for ever from a program that writes without
  /// end.
  void drain_errors();
  /// Some bytes of output into buffer_.
  Result<void> fill(const Deadline& deadline);
  Error ended();

  pid_t pid_;
  Fd in_, out_, err_;
  std::string buffer_;  // read and not yet asked for
  std::string errors_;
};

}  // namespace plumbline::os
