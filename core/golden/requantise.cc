#include "core/golden/requantise.h"

#include <filesystem>
#include <random>

#include "core/model/quantize.h"

namespace plumbline::golden {
namespace {

/// Never published; its place must be free all the same.
Result<os::FreshFolder> temporary_folder() {
  std::error_code failed;
  const auto parent = std::filesystem::temp_directory_path(failed);
  if (failed) {
    return Error{PLUMB_NOT_FOUND, "no temporary folder can be made: " + failed.message() +
                                      " (TMPDIR names where they lie)"};
  }
  PLUMB_ASSIGN(os::FreshFolder folder,
               os::FreshFolder::create(
                   (parent / ("plumb-" + std::to_string(std::random_device()()))).string()));
  // Weights may be nobody else's business.
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all, failed);
  return folder;
}

}  // namespace

Result<RequantisedFile> RequantisedFile::make(pipeline::Pipeline& pipeline, Host& host,
                                              plumb_format to, const std::atomic<bool>* cancel) {
  PLUMB_ASSIGN(const auto writer, host.find<plumb_model_writer>({.pin = pipeline.loader_id()}));
  PLUMB_ASSIGN(os::FreshFolder folder, temporary_folder());
  RequantisedFile made(std::move(folder));
  PLUMB_TRY(model::quantize(pipeline.file(), *writer.table, pipeline.threads(), made.path(),
                            {.to = to, .cancel = cancel}));
  return made;
}

}  // namespace plumbline::golden
