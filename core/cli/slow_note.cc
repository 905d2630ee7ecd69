#include "core/cli/slow_note.h"

#include <condition_variable>
#include <mutex>

#include "core/base/os/terminal.h"
#include "core/cli/session.h"

namespace plumbline::cli {
namespace {

constexpr std::chrono::seconds kQuiet{2};
constexpr std::string_view kEmptyLine = "\r\x1b[2K";

}  // namespace

SlowNote::SlowNote(std::string what) : what_(std::move(what)) {
  if (os::is_terminal(os::Stream::kErrors) && os::obeys_sequences())
    thread_ = std::jthread([this](const std::stop_token& token) { tick(token); });
}

void SlowNote::tick(const std::stop_token& token) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any ended;
  auto waited = kQuiet;
  ended.wait_for(lock, token, kQuiet, [] { return false; });
  if (token.stop_requested()) return;
  for (; !token.stop_requested(); ++waited) {
    aside(std::string(kEmptyLine) + what_ + ", " + std::to_string(waited.count()) + " s");
    ended.wait_for(lock, token, std::chrono::seconds(1), [] { return false; });
  }
  aside(kEmptyLine);
}

}  // namespace plumbline::cli
