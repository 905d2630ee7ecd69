#include "core/cli/slow_note.h"

#include <chrono>
#include <cstdio>

#include "core/base/os/terminal.h"
#include "core/cli/session.h"

namespace plumbline::cli {
namespace {

constexpr std::chrono::seconds kQuiet{2};

// As it is: aside() would make it harmless.
void empty_line() {
  std::fputs("\r\x1b[2K", stderr);
}

}  // namespace

SlowNote::SlowNote(std::string what) : what_(std::move(what)) {
  if (os::is_terminal(os::Stream::kErrors) && os::obeys_sequences())
    thread_ = std::thread([this] { tick(); });
}

SlowNote::~SlowNote() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void SlowNote::tick() {
  std::unique_lock lock(mutex_);
  const auto is_over = [this] { return is_over_; };
  if (ended_.wait_for(lock, kQuiet, is_over)) return;
  auto waited = kQuiet;
  do {
    empty_line();
    aside(what_ + ", " + std::to_string(waited.count()) + " s");
    ++waited;
  } while (!ended_.wait_for(lock, std::chrono::seconds(1), is_over));
  empty_line();
}

}  // namespace plumbline::cli
