#include "core/host/scan.h"

#include "core/base/os/process.h"
#include "core/host/manifest.h"
#include "core/host/text.h"

namespace plumbline {
namespace {

/// plumb-scan's last line: what came before is the library's own chatter.
std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  const size_t newline = text.rfind('\n');
  return one_line(newline == std::string::npos ? text : text.substr(newline + 1));
}

}  // namespace

Result<PluginFacts> scan(const std::string& scan_program, const std::string& library,
                         std::chrono::milliseconds timeout) {
  os::RunOptions options;
  options.timeout = timeout;
  PLUMB_ASSIGN(const os::RunResult child, os::run({scan_program, library}, options));
  if (child.succeeded()) {
    auto facts = parse_manifest(child.out);
    if (facts) return facts;
    return Error{PLUMB_INTERNAL,
                 "the scan of it in a child process gave no readable answer: it ends the "
                 "process or writes to standard output when loaded"};
  }
  // plumb-scan exits with the status code of what went wrong; all else is the library's doing.
  const bool is_answer = child.end == os::RunResult::End::kExited &&
                         child.code >= PLUMB_INVALID_ARGUMENT && child.code <= PLUMB_INTERNAL &&
                         !child.err.empty();
  if (is_answer) return Error{child.code, last_line(child.err)};
  std::string how = child.describe();
  if (child.end == os::RunResult::End::kTimedOut)
    how += " of " + std::to_string(timeout.count()) + " ms";
  return Error{PLUMB_INTERNAL, "the scan of it in a child process: " + how};
}

}  // namespace plumbline
