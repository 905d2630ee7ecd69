#include "tests/diagnosis/sides.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "core/model/quantize.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"
#include "tests/support/build_host.h"
#include "tests/support/golden_cases.h"
#include "tests/support/pulled_model.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::diff::test {
namespace {

using plumbline::test::golden_path;
using plumbline::test::host;
using plumbline::test::pulled_model;

constexpr uint32_t kSeed = 20240607;

Result<std::string> quantised(const std::string& source, const std::string& format) {
  static const plumbline::test::TemporaryFolder folder;
  static std::map<std::string, std::string> made;
  const std::string key = source + "@" + format;
  if (const auto found = made.find(key); found != made.end()) return found->second;
  const std::string path = folder.path(std::to_string(made.size()) + ".gguf");
  PLUMB_ASSIGN(const auto loader, host().find<plumb_loader>({.pin = "plumb.loaders.gguf"}));
  PLUMB_ASSIGN(const auto writer, host().find<plumb_model_writer>({.pin = "plumb.loaders.gguf"}));
  PLUMB_ASSIGN(const auto file, model::ModelFile::open(*loader.table, loader.host, source));
  ThreadPool pool(2);
  for (const plumb_format to : {PLUMB_F32, PLUMB_Q8_0, PLUMB_Q4_0, PLUMB_Q6_K}) {
    if (format_name(to) != format) continue;
    PLUMB_TRY(model::quantize(file, *writer.table, pool, path, {.to = to}));
    return made[key] = path;
  }
  return Error{PLUMB_INVALID_ARGUMENT, format + ": not a format that is made here"};
}

Result<std::string> path_of(const std::string& model) {
  const size_t at = model.find('@');
  const std::string name = model.substr(0, at);
  const std::string path =
      is_tiny(name) ? golden_path("models/" + name + "/model.gguf") : pulled_model(name);
  if (path.empty()) return Error{PLUMB_NOT_FOUND, name + " is missing: plumb model pull " + name};
  if (at == std::string::npos) return path;
  return quantised(path, model.substr(at + 1));
}

}  // namespace

Result<std::unique_ptr<OpenedSide>> open_side(const std::string& model,
                                              const std::vector<std::string>& settings,
                                              const OpenedSide* other, Host* host) {
  PLUMB_ASSIGN(const std::string path, path_of(model));
  config::LoadRequest request{.file = PLUMB_SOURCE_DIR "/configs/pipelines/smollm2.yaml",
                              .overrides = {"kernels.threads=2"},
                              .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}};
  const bool has_sampling = std::ranges::any_of(settings, [](const std::string& setting) {
    return setting.starts_with("sampling.stages") || setting.starts_with("sampling.profile");
  });
  if (!has_sampling) request.overrides.push_back("sampling.profile=diff-greedy");
  // Room for the longest prompt, and no more.
  request.overrides.push_back("context.reserve_output=4");
  request.overrides.push_back(is_tiny(model) ? "context.length=48" : "context.length=640");
  request.overrides.insert(request.overrides.end(), settings.begin(), settings.end());
  auto opened = std::make_unique<OpenedSide>();
  PLUMB_ASSIGN(opened->config, config::load_config(request));
  PLUMB_ASSIGN(opened->pipeline,
               pipeline::Pipeline::open(opened->config.config,
                                        host != nullptr ? *host : plumbline::test::host(), path));
  SideOptions options{.name = model};
  if (other != nullptr && other->pipeline->file().path() == path)
    options.model_sha256 = other->side->identity().model_sha256;
  PLUMB_ASSIGN(opened->side, make_side(options, opened->config, *opened->pipeline));
  return opened;
}

bool is_tiny(const std::string& model) {
  return model.starts_with("tiny-");
}

const std::vector<std::string>& texts(const std::string& half) {
  static std::map<std::string, std::vector<std::string>> all;
  if (all.empty()) {
    for (const auto& line : plumbline::test::read_jsonl(golden_path("texts/prompts.jsonl")))
      all[line.at("half")].push_back(line.at("text"));
  }
  return all[half];
}

PromptInput prompt_for(const OpenedSide& side, const std::string& model, const std::string& text) {
  if (!is_tiny(model)) return {.text = text};
  std::minstd_rand random(static_cast<uint32_t>(text.size()) + kSeed);
  PromptInput prompt;
  for (size_t i = 0; i < std::clamp<size_t>(text.size(), 12, 40); ++i)
    prompt.ids.push_back(static_cast<int32_t>(random() % side.side->hyper_parameters().n_vocab));
  return prompt;
}

std::string long_text() {
  const auto bytes = plumbline::test::read_file(golden_path("texts/study.txt"));
  return std::string(bytes.begin(), bytes.end()).substr(0, 2600);
}

const NoiseTable& shipped_noise() {
  static const NoiseTable table = [] {
    const auto bytes = plumbline::test::read_file(PLUMB_SOURCE_DIR "/configs/diff/noise.json");
    auto read = NoiseTable::parse(std::string(bytes.begin(), bytes.end()), "noise.json");
    return read ? *std::move(read) : NoiseTable();  // diff_parts_test says what is wrong with it
  }();
  return table;
}

bool is_long() {
  return std::getenv("PLUMB_LONG_TESTS") != nullptr;
}

uint32_t chosen(uint32_t what, uint32_t n) {
  std::mt19937 random(kSeed + what);
  return static_cast<uint32_t>(random()) % n;
}

}  // namespace plumbline::diff::test
