// model_harness.h: golden models, and decoders on any backends, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/npy.h"
#include "core/model/decoder.h"
#include "plumb/sdk/abi.h"
#include "tests/support/build_plugins.h"
#include "tests/support/kernels_harness.h"

namespace plumbline::test {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// One line of a golden cases.jsonl or greedy.jsonl.
struct GoldenCase {
  std::string name;
  std::vector<int32_t> prompt_ids;
  std::vector<int32_t> ids;
  std::string text;
};

inline std::vector<GoldenCase> read_cases(const std::string& path) {
  std::vector<GoldenCase> cases;
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    GoldenCase one{json.at("name"), {}, json.at("ids"), {}};
    if (json.contains("prompt_ids"))
      one.prompt_ids = json["prompt_ids"].get<std::vector<int32_t>>();
    if (json.contains("text")) one.text = json["text"];
    cases.push_back(std::move(one));
  }
  EXPECT_FALSE(cases.empty()) << path;
  return cases;
}

inline std::string golden_folder(const std::string& model) {
  return PLUMB_SOURCE_DIR "/golden/models/" + model;
}

inline NpyArray read_npy(const std::string& path) {
  auto array = parse_npy(read_file(path));
  EXPECT_TRUE(array) << path << ": " << (array ? "" : array.error().message);
  return array ? *array : NpyArray{};
}

/// All variants of kernels of this build that can run here.
inline const std::vector<KernelsPlugin>& runnable_kernels() {
  static const std::vector<KernelsPlugin> found = find_kernels(PLUMB_BUILD_PLUGIN_DIR).runnable;
  return found;
}

/// Names of those that promise canonical bits, the specification first.
inline std::vector<std::string> canonical_backends() {
  std::vector<std::string> names;
  for (const KernelsPlugin& kernels : runnable_kernels()) {
    if (kernels.numerics != "canonical-1") continue;
    const bool is_specification = kernels.id == "plumb.cpu.scalar";
    names.insert(is_specification ? names.begin() : names.end(), kernels.name());
  }
  return names;
}

/// A table of this build's GGUF plugin.
template <typename Table>
const Table& gguf(const char* extension) {
  static const Table* table = [&] {
    for (const plumb_plugin* plugin : open_plugins(PLUMB_BUILD_PLUGIN_DIR, extension)) {
      if (to_view(plugin->id) != "plumb.loaders.gguf") continue;
      return static_cast<const Table*>(plugin->extension(to_abi(extension)));
    }
    throw std::runtime_error("plumb.loaders.gguf is not in " PLUMB_BUILD_PLUGIN_DIR);
  }();
  return *table;
}

struct RunnerOptions {
  std::string backend = "plumb.reference";  // its name()
  plumb_format activations = PLUMB_F32;
  plumb_format kv_format = PLUMB_F32;
  uint32_t n_threads = 1;
  uint32_t chunk_rows = 512;
  uint32_t context_rows = 0;
  std::vector<std::pair<std::string, std::string>> overrides = {};  // op -> backend
  model::WindowOptions window = {};
  bool keeps_keys = false;
};

/// A model file with a decoder, ready to run.
class Runner {
 public:
  static std::unique_ptr<Runner> create(const std::string& model_path,
                                        const RunnerOptions& options) {
    auto file =
        model::ModelFile::open(gguf<plumb_loader>(PLUMB_EXT_LOADER), &small_host(), model_path);
    if (!file) return fail(file.error());
    auto runner = std::unique_ptr<Runner>(new Runner(*std::move(file), options.n_threads));
    model::DecoderOptions decoder;
    decoder.activations = options.activations;
    decoder.kv_format = options.kv_format;
    decoder.chunk_rows = options.chunk_rows;
    decoder.context_rows = options.context_rows;
    decoder.window = options.window;
    decoder.keeps_keys = options.keeps_keys;
    if (!runner->add_backend(options.backend)) return nullptr;
    for (const auto& [op, backend] : options.overrides) {
      if (!runner->add_backend(backend)) return nullptr;
      decoder.overrides.push_back({.op = op, .backend = runner->backends_.size() - 1});
    }
    for (const auto& backend : runner->backends_) decoder.backends.push_back(backend.get());
    auto made = model::Decoder::create(runner->file_, runner->pool_, decoder);
    if (!made) return fail(made.error());
    runner->decoder_ = *std::move(made);
    return runner;
  }

  model::Decoder& decoder() { return *decoder_; }
  const model::ModelFile& file() const { return file_; }

  /// Logits f32[T,V] of all ids, from an empty cache.
  std::vector<float> all_logits(std::span<const int32_t> ids) {
    EXPECT_TRUE(decoder_->truncate(0));
    std::vector<float> rows;
    const auto done = decoder_->forward_all(ids, [&](uint32_t, std::span<const float> row) {
      rows.insert(rows.end(), row.begin(), row.end());
    });
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return rows;
  }

  /// Logits f32[V] of the last id, from an empty cache.
  std::vector<float> last_logits(std::span<const int32_t> ids) {
    EXPECT_TRUE(decoder_->truncate(0));
    const auto row = decoder_->forward(ids);
    EXPECT_TRUE(row) << (row ? "" : row.error().message);
    return row ? std::vector<float>(row->begin(), row->end()) : std::vector<float>();
  }

 private:
  Runner(model::ModelFile file, uint32_t n_threads) : file_(std::move(file)), pool_(n_threads) {}

  static std::unique_ptr<Runner> fail(const Error& error) {
    ADD_FAILURE() << error.message;
    return nullptr;
  }

  /// name: of a variant, or a plugin's id for its best.
  bool add_backend(const std::string& name) {
    const auto& all = runnable_kernels();
    const auto kernels = std::find_if(all.begin(), all.end(), [&](const KernelsPlugin& one) {
      return one.id == name || one.name() == name;
    });
    if (kernels == all.end()) {
      ADD_FAILURE() << name << ": not in " PLUMB_BUILD_PLUGIN_DIR ", or cannot run here";
      return false;
    }
    auto backend = model::Backend::create(kernels->id, *kernels->table, &small_host(),
                                          pool_.n_threads(), "{}", kernels->variant);
    if (!backend) return fail(backend.error()) != nullptr;
    backends_.push_back(*std::move(backend));
    return true;
  }

  // In the order of their dependencies: the decoder goes first.
  model::ModelFile file_;
  ThreadPool pool_;
  std::vector<std::unique_ptr<model::Backend>> backends_;
  std::unique_ptr<model::Decoder> decoder_;
};

/// The same from an empty cache, one id at a time.
inline std::vector<float> last_logits_one_by_one(Runner& runner, std::span<const int32_t> ids) {
  EXPECT_TRUE(runner.decoder().truncate(0));
  std::vector<float> last;
  for (const int32_t& id : ids) {
    const auto row = runner.decoder().forward({&id, 1});
    EXPECT_TRUE(row) << (row ? "" : row.error().message);
    if (row) last.assign(row->begin(), row->end());
  }
  return last;
}

/// Bits, since -0 == +0 and NaN != NaN.
inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

inline int32_t argmax(std::span<const float> row) {
  return static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

/// Greedy ids after a prompt, from an empty cache.
inline std::vector<int32_t> greedy(Runner& runner, const std::vector<int32_t>& prompt, size_t n) {
  std::vector<int32_t> ids;
  EXPECT_TRUE(runner.decoder().truncate(0));
  auto row = runner.decoder().forward(prompt);
  while (row && ids.size() < n) {
    ids.push_back(argmax(*row));
    if (ids.size() < n) row = runner.decoder().forward({&ids.back(), 1});
  }
  EXPECT_TRUE(row) << (row ? "" : row.error().message);
  return ids;
}

}  // namespace plumbline::test
