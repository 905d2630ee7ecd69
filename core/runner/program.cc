#include "core/runner/program.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/config/scalars.h"
#include "plumb/sdk/nearest_name.h"

namespace plumbline::runner {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEntry = "runner.py";

Error unknown(const std::string& name, const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (fs::exists(entry.path() / kEntry, none)) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
  const std::vector<std::string_view> views(names.begin(), names.end());
  return {PLUMB_INVALID_CONFIG, "runner.name \"" + name + "\": in " + folder +
                                    (all.empty() ? " is none" : " are " + all) +
                                    "; expected one of those or a program's path" +
                                    did_you_mean(name, views)};
}

}  // namespace

Result<RunnerProgram> find_program(const config::RunnerConfig& config, const std::string& folder) {
  const bool is_path = config.name.find('/') != std::string::npos;
  const fs::path path = is_path ? fs::path(config.name) : fs::path(folder) / config.name / kEntry;
  std::error_code none;
  if (!fs::is_regular_file(path, none)) {
    if (!is_path) return unknown(config.name, folder);
    return Error{PLUMB_NOT_FOUND, "runner.name: " + path.string() + ": no such file"};
  }
  RunnerProgram program{.argv = {path.string()}, .folder = path.parent_path().string()};
  if (path.extension() == ".py") program.argv.insert(program.argv.begin(), config.python);
  return program;
}

std::string find_map(const config::RunnerConfig& config, const std::string& program_folder,
                     const std::string& architecture) {
  if (config.map != config::kAuto) return config.map;
  if (!config::is_name(architecture)) return "";
  const fs::path own = fs::path(program_folder) / "maps" / (architecture + ".yaml");
  std::error_code none;
  return fs::exists(own, none) ? own.string() : "";
}

}  // namespace plumbline::runner
