// fake_model.h: fake_runner.py under the name of what it does wrong, with a map.
#pragma once

#include <filesystem>
#include <string>

#include "core/runner/runner.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::runner {

inline constexpr const char* kFakeMap = R"(plumb_map: 1
architecture: fake
regions:
  - {ours: embed, theirs: embed}
  - {ours: attn_q, theirs: "layers.{L}.q", transform: [half_to_interleaved: {heads: n_heads}]}
  - {ours: attn_v, theirs: "layers.{L}.qkv", transform: [split: {widths: [n_heads, 1, 1], take: 2}]}
  - {ours: attend, theirs: "layers.{L}.heads"}
  - {ours: ffn_norm, theirs: "layers.{L}.late"}
  - ours: kv_append
    parts:
      - {tap: "layers.{L}.k", transform: [half_to_interleaved: {heads: n_heads_kv}]}
      - {tap: "layers.{L}.qkv", transform: [split: {widths: [2, 1, 1], take: 2}]}
  - {ours: output, theirs: logits}
)";

class FakeModel {
 public:
  /// fault: fake_runner.py tells what each does; "good" does nothing wrong.
  explicit FakeModel(const std::string& fault, const std::string& map = kFakeMap) {
    const std::string program = folder_.path(fault + ".py");
    std::filesystem::create_symlink(PLUMB_SOURCE_DIR "/tests/unit/runner/fake_runner.py", program);
    options.runner = {.name = program,
                      .python = "python3",
                      .map = folder_.write("map.yaml", map),
                      .timeout_s = 60,
                      .options_json = "{}"};
    options.model_path = "/models/fake.gguf";
    options.folder = folder_.path("installed");
  }

  Result<std::unique_ptr<Runner>> start() const { return Runner::start(options); }

  StartOptions options;

 private:
  test::TemporaryFolder folder_;
};

}  // namespace plumbline::runner
