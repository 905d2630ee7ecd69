// session.h: what the verbs share: options, exit codes, output, and the way from a config to its
// parts.
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/config/load.h"
#include "core/host/host.h"
#include "core/pipeline/pipeline.h"
#include "core/runner/runner.h"
#include "plumb/sdk/result.h"

namespace plumbline::cli {

// Exit codes of every verb.
enum Exit : int {
  kDone = 0,
  kDifference = 1,  // or a failed check
  kUsage = 2,  // or the config
  kNothingDone = 3,
  kModelFile = 4,  // or another data file
  kPlugin = 5,
  kInterrupted = 130,
};

/// An error and the exit code that it leads to.
struct Failure {
  int exit;
  Error error;
};

/// Ends the verb with the error; main prints it. Thrown only inside core/cli, where CLI11 throws
/// too.
[[noreturn]] void stop(int exit, Error error);

/// The value, or the end of the verb. exit: for errors that are not the caller's or the config's.
template <typename T>
T value_or_stop(Result<T> result, int exit) {
  if (!result) {
    const bool is_usage = result.error().code == PLUMB_INVALID_ARGUMENT ||
                          result.error().code == PLUMB_INVALID_CONFIG;
    stop(result.error().code == PLUMB_CANCELLED ? kInterrupted
         : is_usage                             ? kUsage
                                                : exit,
         std::move(result).error());
  }
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// The same for a part of an opened pipeline: what the model lacks is the model file's fault, the
/// rest a plugin's.
template <typename T>
T part_or_stop(Result<T> result) {
  const bool is_model =
      !result && (result.error().code == PLUMB_CORRUPT ||
                  result.error().code == PLUMB_UNSUPPORTED || result.error().code == PLUMB_NUMERIC);
  return value_or_stop(std::move(result), is_model ? kModelFile : kPlugin);
}

/// Options that every verb with a pipeline has.
struct PipelineOptions {
  std::string config = "default";
  std::vector<std::string> overrides;

  /// Adds CONFIG and --set to a verb.
  void add_to(CLI::App& verb);
};

/// From a config to its parts, made when they are asked for. Every failure ends the verb with the
/// right exit code.
class Session {
 public:
  explicit Session(PipelineOptions options) : options_(std::move(options)) {}
  /// Of a config that is there already.
  explicit Session(config::ResolvedConfig config) : config_(std::move(config)) {}

  const config::ResolvedConfig& config();
  /// What it would be with more overrides, and without some keys, wherever they were said. Fails as
  /// load_config does.
  Result<config::ResolvedConfig> config_with(const std::vector<std::string>& overrides,
                                             const std::vector<std::string>& dropped = {}) const;
  Host& host();
  /// The model's file, found, and of its pins' contents.
  const std::string& model_path();
  pipeline::Pipeline& pipeline();
  /// The same; null: nobody has asked for it yet.
  pipeline::Pipeline* opened() const { return pipeline_.get(); }
  /// The config's runner, loaded. Ask only where runner.is_wanted().
  runner::Runner& runner();

 private:
  PipelineOptions options_;
  std::optional<config::ResolvedConfig> config_;
  std::optional<Host> host_;
  std::optional<std::string> model_path_;
  std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::unique_ptr<runner::Runner> runner_;
};

/// The file of a config's model source; a pinned path is hashed. Missing: says how to get it.
std::string resolve_model(const config::ModelSource& source, Host& host);

/// What a model's file must hash to, which was checked; empty: nobody has said.
std::string model_pin(const config::ModelSource& source, Host& host);

/// What the model's file at path hashes to: its pin, or else the file is read.
std::string model_sha256(const config::ModelSource& source, Host& host, const std::string& path);

/// Ends the verb unless the file at path hashes to what the config expects; an empty sha256 is no
/// pin.
void check_pin(const std::string& path, const std::string& sha256);

/// A model's file: by its path, or one that was pulled by its name.
std::string find_model(const std::string& name, Host& host);

/// Adds --plugin-path to a verb without a config.
void add_plugin_paths(CLI::App& verb, std::vector<std::string>& paths);

/// A host without a config: PLUMB_PLUGIN_PATH, the user's folder, the install folder, and
/// --plugin-path.
Host make_host(const std::vector<std::string>& paths);

/// A config file by path, or one that is shipped by its name ("smollm2").
std::string find_config(const std::string& name);
/// Folder of what is shipped beside the program: ../share/plumbline from the executable.
std::string shipped_data();
/// Folder with the shipped configs.
std::string shipped_configs();

/// Writes data to stdout, at once. (The process ends with its reader: SIGPIPE.)
void print(std::string_view text);
/// Indented, with text that is no UTF-8 made readable.
void print_json(const pipeline::OrderedJson& json);
/// Text out of a file, fit for a terminal: control characters become '?'.
std::string printable(std::string_view text);
/// A message of several lines, perhaps with a file's own words in it: the same, but for line breaks
/// and tabs.
std::string harmless(std::string_view text);
/// Filled up with spaces; longer text is kept whole.
std::string padded(std::string text, size_t width);
/// A piece of text on stderr for the person at the terminal.
void aside(std::string_view text);
/// The same as one line.
void note(std::string_view line);

/// The whole of a file, or of stdin for "-".
std::string read_all(const std::string& path);
/// JSON from outside, not nested so deep that copying it could exhaust the stack. where: for the
/// message.
pipeline::OrderedJson parse_json(std::string_view text, const std::string& where);

/// Set by Ctrl-C (SIGINT), SIGTERM and SIGHUP once catch_interrupt was called; the second signal of
/// a kind ends the process.
const std::atomic<bool>& catch_interrupt();

}  // namespace plumbline::cli
