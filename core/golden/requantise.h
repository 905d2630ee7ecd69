// requantise.h: a model's file in another format, for as long as a comparison needs it.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "core/base/os/fresh_folder.h"
#include "core/base/thread_pool.h"
#include "core/host/host.h"
#include "core/pipeline/pipeline.h"

namespace plumbline::golden {

/// A file in a folder of its own below the system's folder for temporary files; both go with the
/// object. Move-only.
class RequantisedFile {
 public:
  /// What `plumb model quantize` writes. Fails as model::quantize: NOT_FOUND (no room on the disk,
  /// which is asked for before the first byte), NUMERIC, CANCELLED, and UNSUPPORTED (a model of
  /// files that nothing here writes).
  static Result<RequantisedFile> make(pipeline::Pipeline& pipeline, Host& host, plumb_format to,
                                      const std::atomic<bool>* cancel);

  std::string path() const { return folder_.path() + "/model.gguf"; }

 private:
  explicit RequantisedFile(os::FreshFolder folder) : folder_(std::move(folder)) {}

  os::FreshFolder folder_;  // never published
};

}  // namespace plumbline::golden
