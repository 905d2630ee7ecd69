#include "tests/architecture/rules.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

namespace plumbline::architecture {
namespace {

/// A file above this cannot be read in one sitting.
constexpr int kCodeLinesMax = 600;

/// Who may include whom inside core, besides itself. Arrows point toward the ABI; the command line
/// sees all.
const std::map<std::string, std::set<std::string>, std::less<>> kCoreRooms = {
    {"base", {}},
    {"hash", {}},
    {"kit", {"base"}},
    {"editor", {"base"}},
    {"config", {"base"}},
    {"host", {"base", "hash"}},
    {"model", {"base"}},
    {"pipeline", {"base", "config", "host", "model"}},
    {"conversation", {"base", "config", "hash", "host", "model", "pipeline"}},
    {"trace", {"base", "hash", "model"}},
    {"runner", {"base", "config", "hash", "model", "trace"}},
    {"diff",
     {"base", "config", "conversation", "hash", "host", "model", "pipeline", "runner", "trace"}},
    {"report", {"base", "diff"}},
    {"golden", {"base", "config", "diff", "hash", "host", "model", "pipeline"}},
    {"protocol", {"base", "config", "diff", "golden", "host", "model", "pipeline", "trace"}},
    {"cli",
     {"base", "config", "conversation", "diff", "editor", "golden", "hash", "host", "kit", "model",
      "pipeline", "protocol", "report", "runner", "trace"}},
};

/// A room outside core that is built on another one: core/doc/decisions/0008.
const std::map<std::string, std::string, std::less<>> kBuiltOn = {
    {"backends/wasm", "backends/cpu"},
};

/// Third-party headers that one room alone may see.
struct Owned {
  const char* header;  // a regular expression on what stands between the brackets
  const char* owner;  // a path prefix
  const char* except;  // a regular expression on the paths of others that need it
  const char* what;
};
const Owned kOwned[] = {
    {R"(yaml-cpp/.*)", "core/config/", "", "yaml-cpp"},
    {R"(boost/.*)", "core/host/", "", "Boost"},
    {R"(CLI/.*)", "core/cli/", "", "CLI11"},
    {R"(openssl/.*)", "core/hash/", "", "OpenSSL"},
    {R"(spdlog/.*|fmt/.*)", "core/", "", "the logger"},
    // A backend cannot see core, and shared buffers and import_fd of plumb.kernels/1 are mappings.
    {R"(unistd\.h|fcntl\.h|dlfcn\.h|link\.h|elf\.h|poll\.h|spawn\.h|pthread\.h|sched\.h|termios\.h|)"
     R"(signal\.h|dirent\.h|netdb\.h|pwd\.h|sys/.*|linux/.*|netinet/.*|arpa/.*|windows\.h)",
     "core/base/os/",
     R"(backends/[^/]+/(memory|variants)\.cc|backends/wasm/(linear_memory|module_path)\.cc)",
     "the operating system"},
    {R"(wasm\.h|wasmtime\.h|wasmtime/.*)", "backends/wasm/", "", "the WebAssembly engine"},
};

/// What ends or writes from a process, which only the programs of the project may do.
const std::regex kPrints(
    R"((^|[^\w])(std::)?(cout|cerr|clog)\b|(^|[^\w])(std::)?(printf|fprintf|puts|fputs|putchar)\s*\()");
const std::regex kEnds(
    R"((^|[^\w.>])(std::|::)?(exit|_exit|_Exit|abort|quick_exit|terminate)\s*\()");

bool is_program(std::string_view path) {
  return path.starts_with("core/cli/") || path == "core/host/scan_main.cc";
}

/// "core/host" of core/host/library.cc, "backends/cpu", "plugins/samplers/core".
std::string room_of(std::string_view path) {
  const int depth = path.starts_with("plugins/") ? 3 : 2;
  size_t end = 0;
  for (int i = 0; i < depth && end != path.npos; ++i) end = path.find('/', end == 0 ? 0 : end + 1);
  return std::string(path.substr(0, end));
}

/// Why this file may not have this include in quotes, or nothing.
std::optional<std::string> wrong_quoted(std::string_view path, const std::string& header) {
  if (header.find("..") != header.npos) return "a path with .. hides which room it enters";
  if (header.starts_with("plumb/")) {
    const bool is_abi = path.starts_with("core/abi/");
    if (is_abi && header.starts_with("plumb/sdk/")) return "the ABI may not see the SDK";
    return {};
  }
  if (path.starts_with("core/abi/") || path.starts_with("core/sdk/"))
    return "the public headers see only plumb/";
  const bool names_a_room = header.starts_with("core/") || header.starts_with("backends/") ||
                            header.starts_with("plugins/") || header.starts_with("tests/");
  if (!names_a_room) return {};  // a neighbour in the same folder
  if (room_of(header) == room_of(path)) return {};
  const auto base = kBuiltOn.find(room_of(path));
  if (base != kBuiltOn.end() && room_of(header) == base->second) return {};
  if (!path.starts_with("core/")) return "plugins see core/abi, core/sdk and themselves";
  const std::string room = room_of(path).substr(5);
  const auto known = kCoreRooms.find(room);
  if (known == kCoreRooms.end())
    return "the room core/" + room + " is not in the table of tests/architecture/rules.cc";
  if (header.starts_with("core/") && known->second.count(room_of(header).substr(5)) > 0) return {};
  return "core/" + room + " may not see " + room_of(header);
}

std::optional<std::string> wrong_bracketed(std::string_view path, const std::string& header) {
  for (const Owned& owned : kOwned) {
    if (!std::regex_match(header, std::regex(owned.header)) || path.starts_with(owned.owner))
      continue;
    if (std::regex_match(std::string(path), std::regex(owned.except))) continue;
    return std::string(owned.what) + " is seen only by " + owned.owner;
  }
  if (path.starts_with("core/abi/") && header != "stddef.h" && header != "stdint.h") {
    return "the ABI includes stddef.h and stdint.h only";
  }
  return {};
}

/// A line without its comment and its strings' contents.
std::string code_of(const std::string& line) {
  static const std::regex strings(R"("(\\.|[^"\\])*")");
  std::string code = std::regex_replace(line, strings, "\"\"");
  const size_t comment = code.find("//");
  if (comment != code.npos) code.erase(comment);
  return code;
}

/// In a table of functions, a tag in brackets must be one of those that base.h explains.
std::optional<std::string> wrong_tag(const std::string& line) {
  static const std::regex tag(R"(\[([a-z]+(-[a-z]+)+|worker)( [^\]]*)?\])");
  static const std::set<std::string> known = {"any-thread", "one-at-a-time", "worker"};
  for (std::sregex_iterator match(line.begin(), line.end(), tag), end; match != end; ++match) {
    if (known.count((*match)[1]) == 0) return "unknown thread tag [" + (*match)[1].str() + "]";
  }
  return {};
}

}  // namespace

std::vector<std::string> violations(std::string_view path, std::string_view text) {
  static const std::regex include(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
  std::vector<std::string> found;
  std::istringstream lines{std::string(text)};
  int number = 0;
  int n_code = 0;
  bool is_in_block_comment = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto report = [&](const std::optional<std::string>& what) {
      if (what) found.push_back(std::string(path) + ":" + std::to_string(number) + ": " + *what);
    };
    if (path.starts_with("core/abi/")) report(wrong_tag(line));
    std::smatch match;
    if (std::regex_search(line, match, include)) {
      report(match[1] == "\"" ? wrong_quoted(path, match[2]) : wrong_bracketed(path, match[2]));
    }
    if (line.find("/*") != line.npos) is_in_block_comment = true;
    const bool is_comment = is_in_block_comment;
    if (line.find("*/") != line.npos) is_in_block_comment = false;
    if (is_comment) continue;
    const std::string code = code_of(line);
    if (code.find_first_not_of(" \t") != code.npos) ++n_code;
    if (is_program(path)) continue;
    if (std::regex_search(code, kPrints)) report("only the command line prints");
    if (std::regex_search(code, kEnds)) report("only the command line ends the process");
  }
  if (n_code > kCodeLinesMax) {
    found.push_back(std::string(path) + ": " + std::to_string(n_code) +
                    " lines of code, expected at most " + std::to_string(kCodeLinesMax));
  }
  return found;
}

}  // namespace plumbline::architecture
