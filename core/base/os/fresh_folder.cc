#include "core/base/os/fresh_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/base/os/fresh_name.h"

namespace plumbline::os {
namespace {

namespace fs = std::filesystem;

Error failed(const std::string& path, const char* what, int reason) {
  return {PLUMB_NOT_FOUND, path + ": " + what + ": " + std::strerror(reason)};
}

Result<void> sync(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return failed(path, "cannot be opened", errno);
  const int reason = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (reason != 0) return failed(path, "cannot be written to the disk", reason);
  return {};
}

// Without the slashes at its end, behind which no name can be put.
std::string trimmed(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string parent_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

Result<FreshFolder> FreshFolder::create(const std::string& given) {
  const std::string target = trimmed(given);
  std::error_code ignored;
  const fs::file_status there = fs::symlink_status(target, ignored);
  const bool is_free =
      !fs::exists(there) || (fs::is_directory(there) && fs::is_empty(target, ignored));
  if (target.empty() || !is_free) {
    return Error{PLUMB_NOT_FOUND, target + ": is there already: remove it, or name another folder"};
  }
  const std::string path = fresh_name(target);
  if (::mkdir(path.c_str(), 0777) != 0) return failed(target, "cannot be created", errno);
  return FreshFolder(path, target);
}

FreshFolder::FreshFolder(FreshFolder&& other) noexcept
    : is_ours_(std::exchange(other.is_ours_, false)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)) {}

FreshFolder::~FreshFolder() {
  std::error_code ignored;
  if (is_ours_) fs::remove_all(path_, ignored);
}

uint64_t FreshFolder::free_bytes() const {
  std::error_code ignored;
  return fs::space(path_, ignored).available;
}

Result<void> FreshFolder::publish() && {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    PLUMB_TRY(sync(entry->path().string()));
  }
  if (error) return Error{PLUMB_NOT_FOUND, path_ + ": cannot be read: " + error.message()};
  PLUMB_TRY(sync(path_));
  if (std::rename(path_.c_str(), target_.c_str()) != 0)
    return failed(target_, "cannot be put in its place", errno);
  is_ours_ = false;
  return sync(parent_of(target_));
}

}  // namespace plumbline::os
