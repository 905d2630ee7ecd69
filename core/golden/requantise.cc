#include "core/golden/requantise.h"

#include <filesystem>
#include <random>

#include "core/model/quantize.h"

namespace plumbline::golden {
namespace {

namespace fs = std::filesystem;

constexpr int kTries = 100;

/// A new folder that nobody else uses: making it fails where there is one of that name.
Result<std::string> fresh_folder() {
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  for (int i = 0; !failed && i < kTries; ++i) {
    const fs::path folder = parent / ("plumb-" + std::to_string(std::random_device()()));
    if (fs::create_directory(folder, failed)) {
      fs::permissions(folder, fs::perms::owner_all, failed);
      return folder.string();
    }
  }
  return Error{PLUMB_NOT_FOUND, "no temporary folder can be made" +
                                    (failed ? ": " + failed.message() : std::string()) +
                                    " (TMPDIR names where they lie)"};
}

}  // namespace

Result<RequantisedFile> RequantisedFile::make(pipeline::Pipeline& pipeline, Host& host,
                                              plumb_format to, const std::atomic<bool>* cancel) {
  PLUMB_ASSIGN(const auto writer, host.find<plumb_model_writer>({.pin = pipeline.loader_id()}));
  PLUMB_ASSIGN(std::string folder, fresh_folder());
  RequantisedFile made(std::move(folder));
  PLUMB_TRY(model::quantize(pipeline.file(), *writer.table, pipeline.threads(), made.path(),
                            {.to = to, .cancel = cancel}));
  return made;
}

RequantisedFile::~RequantisedFile() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace plumbline::golden
