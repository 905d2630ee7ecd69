#include "core/golden/bundle_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/npy.h"
#include "core/base/os/durable.h"
#include "core/base/os/fresh_folder.h"
#include "core/base/os/regular_file.h"
#include "core/hash/sha256.h"

namespace plumbline::golden {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBundleBytesMax = uint64_t{64} << 20;
constexpr uint64_t kLogitsBytesMax = uint64_t{256} << 20;  // a vocabulary of 67 million ids

/// The whole of a regular file that is no link.
Result<std::string> read_file(const std::string& path, uint64_t bytes_max) {
  std::error_code failed;
  const fs::file_status status = fs::symlink_status(path, failed);
  if (!fs::exists(status)) return Error{PLUMB_NOT_FOUND, path + ": no such file"};
  if (!fs::is_regular_file(status)) {
    return Error{PLUMB_CORRUPT,
                 path + ": found a " +
                     (fs::is_symlink(status) ? std::string("link") : "folder or device") +
                     ", expected a file: a bundle holds its files itself"};
  }
  return os::read_regular_file(path, bytes_max);
}

/// Letters, digits and dashes of a name; something in place of the rest.
std::string plain(const std::string& name) {
  std::string text = name.substr(0, 40);
  for (char& c : text) {
    const bool is_plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    if (!is_plain) c = '_';
  }
  return text;
}

Result<void> write_files(const std::string& folder, Bundle& bundle,
                         const std::vector<std::vector<float>>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    GoldenPrompt& prompt = bundle.prompts[i];
    const std::string file = npy_bytes(std::vector<uint64_t>{rows[i].size()}, rows[i]);
    prompt.logits_file = std::to_string(i) + "-" + plain(prompt.name) + ".logits.npy";
    prompt.logits_sha256 = sha256_of(file);
    PLUMB_TRY(os::write_file(folder + "/" + prompt.logits_file, file));
  }
  return os::write_file(folder + "/bundle.json", bundle_json(bundle));
}

}  // namespace

Result<Bundle> read_bundle(const std::string& folder) {
  const std::string path = folder + "/bundle.json";
  auto text = read_file(path, kBundleBytesMax);
  if (!text && text.error().code == PLUMB_NOT_FOUND) {
    return Error{PLUMB_NOT_FOUND, std::move(text).error().message +
                                      " (a bundle is a folder that `plumb golden "
                                      "record` made)"};
  }
  if (!text) return std::move(text).error();
  return parse_bundle(*text, path);
}

Result<std::vector<float>> read_logits(const std::string& folder, const GoldenPrompt& prompt) {
  const std::string path = folder + "/" + prompt.logits_file;
  PLUMB_ASSIGN(const std::string file, read_file(path, kLogitsBytesMax));
  const std::string sha256 = sha256_of(file);
  auto array = parse_npy(file);
  if (!array) return std::move(array).error().at(path);
  if (sha256 != prompt.logits_sha256) {
    return Error{PLUMB_CORRUPT, path + ": found sha256 " + sha256 + ", expected " +
                                    prompt.logits_sha256 + " (bundle.json)"};
  }
  if (array->shape.size() != 1 || array->values.empty()) {
    return Error{PLUMB_CORRUPT, path + ": found " + std::to_string(array->shape.size()) +
                                    " dimensions, expected f32[V]"};
  }
  if (!std::ranges::all_of(array->values, [](float x) { return std::isfinite(x); }))
    return Error{PLUMB_CORRUPT, path + ": expected finite numbers only"};
  return std::move(array->values);
}

Result<void> write_bundle(const std::string& folder, Bundle bundle,
                          const std::vector<std::vector<float>>& rows) {
  std::error_code failed;
  if (fs::exists(fs::symlink_status(folder, failed))) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 folder + ": is there already; a bundle is never changed: choose another name"};
  }
  PLUMB_ASSIGN(os::FreshFolder fresh, os::FreshFolder::create(folder));
  PLUMB_TRY(write_files(fresh.path(), bundle, rows));
  return std::move(fresh).publish();
}

}  // namespace plumbline::golden
