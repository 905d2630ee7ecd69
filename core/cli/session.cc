#include "core/cli/session.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>

#include "core/base/os/paths.h"
#include "core/base/os/regular_file.h"
#include "core/base/printable.h"
#include "core/pipeline/untrusted_json.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kReadBytesMax = size_t{1} << 32;  // a device may have no end

std::atomic<bool> interrupted{false};

void on_interrupt(int signal) {
  interrupted.store(true, std::memory_order_relaxed);
  std::signal(signal, SIG_DFL);
}

}  // namespace

void stop(int exit, Error error) {
  throw Failure{exit, std::move(error)};
}

void PipelineOptions::add_to(CLI::App& verb) {
  verb.add_option("CONFIG", config,
                  "Pipeline config: a file, or the name of a shipped one (smollm2, gemma3, ...)")
      ->capture_default_str();
  verb.add_option("--set", overrides, "Override one value: --set sampling.seed=3; may be repeated")
      ->allow_extra_args(false);
}

std::string shipped_data() {
  return (fs::path(value_or_stop(os::executable_path(), kUsage)).parent_path() /
          "../share/plumbline")
      .lexically_normal()
      .string();
}

std::string shipped_configs() {
  return shipped_data() + "/configs";
}

std::string find_config(const std::string& name) {
  std::error_code ignored;
  if (fs::exists(name, ignored) && !fs::is_directory(name, ignored)) return name;
  const fs::path shipped = fs::path(shipped_configs()) / "pipelines" / (name + ".yaml");
  // Canonical, so that relative paths inside it are seen from where it really lies.
  if (name.find('/') == std::string::npos && fs::exists(shipped, ignored))
    return fs::canonical(shipped, ignored).string();
  if (fs::exists(name, ignored)) return name;  // a folder: load_config's to refuse
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(shipped_configs() + "/pipelines", ignored)) {
    names.insert(entry.path().stem().string());
  }
  std::string all;
  for (const std::string& known : names) all += " " + known;
  const bool is_prompt = name.find(' ') != name.npos;
  stop(kUsage, {PLUMB_NOT_FOUND, name + ": no such file, nor a shipped config; there are" + all +
                                     (is_prompt ? " (a prompt is given with -p)" : "")});
}

void add_plugin_paths(CLI::App& verb, std::vector<std::string>& paths) {
  verb.add_option("--plugin-path", paths, "A library or folder to search first; may be repeated")
      ->allow_extra_args(false);
}

Host make_host(const std::vector<std::string>& paths) {
  return value_or_stop(Host::create({.paths = paths}), kPlugin);
}

const config::ResolvedConfig& Session::config() {
  if (!config_) config_ = value_or_stop(config_with({}), kUsage);
  return *config_;
}

Result<config::ResolvedConfig> Session::config_with(const std::vector<std::string>& overrides,
                                                    const std::vector<std::string>& dropped) const {
  std::vector<std::string> all = options_.overrides;
  std::erase_if(all, [&](const std::string& one) {
    return std::ranges::any_of(dropped, [&](const std::string& key) {
      return one.starts_with(key + ".") || one.starts_with(key + "=");
    });
  });
  all.insert(all.end(), overrides.begin(), overrides.end());
  return config::load_config({.file = find_config(options_.config),
                              .overrides = std::move(all),
                              .preset_folders = {shipped_configs() + "/presets"},
                              .dropped = dropped});
}

Host& Session::host() {
  if (!host_) {
    const config::PipelineConfig& wanted = config().config;
    // A shipped pipeline is what its config says, whatever the environment it runs in.
    const bool is_lab = wanted.mode == config::Mode::kLab;
    host_ = value_or_stop(
        Host::create({.paths = wanted.plugins.paths, .search_environment = is_lab}), kPlugin);
  }
  return *host_;
}

const std::string& Session::model_path() {
  if (!model_path_) {
    const config::PipelineConfig& wanted = config().config;
    std::string path = resolve_model(wanted.model.source, host());
    check_pin(wanted.tokenizer.path, wanted.tokenizer.sha256);
    check_pin(wanted.chat_template.path, wanted.chat_template.sha256);
    model_path_ = std::move(path);
  }
  return *model_path_;
}

pipeline::Pipeline& Session::pipeline() {
  if (pipeline_ == nullptr) {
    const std::string& path = model_path();
    pipeline_ = value_or_stop(pipeline::Pipeline::open(config().config, host(), path), kModelFile);
  }
  return *pipeline_;
}

runner::Runner& Session::runner() {
  if (runner_ == nullptr) {
    const config::PipelineConfig& wanted = config().config;
    const runner::StartOptions options{
        .runner = wanted.runner,
        .model_path = resolve_model(wanted.model.source, host()),
        .n_threads = wanted.kernels.threads.value_or(0),
        .folder = value_or_stop(runner::installed_runners(), kPlugin),
        .on_progress = [](const std::string& line) { note(line); },
        .cancelled = [&interrupted = catch_interrupt()] { return interrupted.load(); }};
    runner_ = value_or_stop(runner::Runner::start(options), kPlugin);
  }
  return *runner_;
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    stop(kModelFile, {PLUMB_NOT_FOUND, "cannot write to stdout"});
  }
}

void print_json(const pipeline::OrderedJson& json) {
  print(json.dump(2, ' ', false, pipeline::OrderedJson::error_handler_t::replace) + "\n");
}

std::string printable(std::string_view text) {
  return plumbline::printable(text);
}

std::string harmless(std::string_view text) {
  return plumbline::printable(text, "\n\t");
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

void aside(std::string_view text) {
  const std::string shown = harmless(text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

void note(std::string_view line) {
  aside(line);
  std::fputc('\n', stderr);
}

std::string read_all(const std::string& path) {
  if (path != "-") return value_or_stop(os::read_regular_file(path, kReadBytesMax), kModelFile);
  std::string text;
  std::array<char, 65536> piece;
  while (std::cin.read(piece.data(), piece.size()) || std::cin.gcount() > 0) {
    text.append(piece.data(), static_cast<size_t>(std::cin.gcount()));
    if (text.size() > kReadBytesMax) {
      stop(kModelFile,
           {PLUMB_CORRUPT, "stdin: more than " + std::to_string(kReadBytesMax) + " bytes"});
    }
  }
  // A folder can be opened, but not read. std::cin takes that for the end.
  if (std::ferror(stdin) != 0) stop(kModelFile, {PLUMB_NOT_FOUND, "stdin: cannot be read"});
  return text;
}

pipeline::OrderedJson parse_json(std::string_view text, const std::string& where) {
  Result<pipeline::OrderedJson> json = pipeline::parse_untrusted(text);
  if (!json) stop(kUsage, std::move(json).error().at(where));
  return *std::move(json);
}

const std::atomic<bool>& catch_interrupt() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  // nohup has it ignored: that stays.
  if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  return interrupted;
}

}  // namespace plumbline::cli
