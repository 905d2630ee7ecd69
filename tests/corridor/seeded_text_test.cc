// One seed, one text: all kernels of the canonical class give the same picks, coin by coin,
// whatever stages the profile has. Oracle: the scalar kernels.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/config/load.h"
#include "core/pipeline/pipeline.h"
#include "tests/support/build_host.h"
#include "tests/support/pulled_model.h"

namespace plumbline::test {
namespace {

constexpr const char* kOthers[] = {"plumb.cpu.avx2", "plumb.cpu.avx512", "plumb.cpu.neon",
                                   "plumb.wasm"};

struct Source {
  std::string config;
  std::string model_path;
  std::string prompt;
  std::vector<std::string> profiles;
  uint32_t n_tokens;
};

/// What the picks of a run were, to the bit.
struct Picks {
  std::vector<int32_t> ids;
  std::vector<uint32_t> n_kept;
  std::vector<double> coins;  // -1 where a draw used none

  bool operator==(const Picks&) const = default;
};

class SeededText {
 public:
  explicit SeededText(Source source) : source_(std::move(source)) {}

  /// One for each profile.
  std::vector<Picks> run(const std::string& backend) {
    std::vector<Picks> runs;
    auto opened = open(backend, source_.profiles.front());
    if (opened == nullptr) return runs;
    const auto decoder = opened->decoder();
    const auto tokenizer = opened->tokenizer();
    const auto prompt = opened->encode_prompt({.bytes = source_.prompt});
    if (!decoder || !tokenizer || !prompt) {
      ADD_FAILURE() << backend << ": a part cannot be made";
      return runs;
    }
    for (const std::string& profile : source_.profiles) {
      const auto chosen = open(backend, profile);
      if (chosen == nullptr) return runs;
      auto sampler = chosen->sampler();
      EXPECT_TRUE(sampler) << (sampler ? "" : sampler.error().message);
      if (!sampler) return runs;
      Picks picks;
      pipeline::GenerationRequest request = chosen->generation_request(prompt->ids);
      request.max_tokens = source_.n_tokens;
      request.on_pick = [&](const pipeline::Pick& pick) {
        picks.ids.push_back(pick.id);
        picks.n_kept.push_back(pick.n_kept);
        picks.coins.push_back(std::isnan(pick.coin) ? -1 : pick.coin);
      };
      EXPECT_TRUE((*decoder)->truncate(0));
      const auto made = pipeline::generate(**decoder, *sampler, **tokenizer, std::move(request));
      EXPECT_TRUE(made) << profile << ": " << (made ? "" : made.error().message);
      runs.push_back(std::move(picks));
    }
    return runs;
  }

 private:
  std::unique_ptr<pipeline::Pipeline> open(const std::string& backend, const std::string& profile) {
    const auto resolved = config::load_config(
        {.file = std::string(PLUMB_SOURCE_DIR "/configs/pipelines/") + source_.config + ".yaml",
         .overrides = {"kernels.backend=" + backend, "sampling.profile=" + profile,
                       "sampling.seed=20261130", "context.reserve_output=0",
                       "generation.ignore_end=true"},
         .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}});
    EXPECT_TRUE(resolved) << (resolved ? "" : resolved.error().message);
    if (!resolved) return nullptr;
    auto opened = pipeline::Pipeline::open(resolved->config, host(), source_.model_path);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return opened ? *std::move(opened) : nullptr;
  }

  Source source_;
};

bool runs_here(const std::string& backend) {
  return static_cast<bool>(host().find<plumb_kernels>({.pin = backend}));
}

void compare(const Source& source) {
  SeededText text(source);
  const std::vector<Picks> scalar = text.run("plumb.cpu.scalar");
  ASSERT_EQ(scalar.size(), source.profiles.size());
  for (const Picks& picks : scalar) ASSERT_EQ(picks.ids.size(), source.n_tokens);
  size_t n_compared = 0;
  for (const std::string backend : kOthers) {
    if (!runs_here(backend)) continue;
    ++n_compared;
    const std::vector<Picks> other = text.run(backend);
    ASSERT_EQ(other.size(), scalar.size()) << backend;
    for (size_t at = 0; at < scalar.size(); ++at)
      EXPECT_EQ(other[at], scalar[at]) << backend << ", " << source.profiles[at];
  }
  EXPECT_GE(n_compared, 1u);
}

bool is_long() {
  return std::getenv("PLUMB_LONG_TESTS") != nullptr;
}

TEST(SeededText, IsTheSameOnAllKernelsForAllProfiles) {
  compare({.config = "tiny-world",
           .model_path = PLUMB_SOURCE_DIR "/golden/models/tiny-world/model.gguf",
           .prompt = "The mill of",
           .profiles = {"slm000", "tinyloop001", "hf", "llamacpp", "tinyrustlm-abi", "balanced",
                        "precise", "creative", "structured", "diff-greedy"},
           .n_tokens = 48});
}

TEST(SeededText, OfARealModelIsTheSameOnAllKernels) {
  const std::string path = pulled_model("smollm2-135m");
  ASSERT_NE(path, "") << "plumb model pull smollm2-135m";
  compare({.config = "smollm2",
           .model_path = path,
           .prompt = "Once upon a time",
           .profiles = {"balanced"},
           .n_tokens = is_long() ? 512u : 24u});
}

}  // namespace
}  // namespace plumbline::test
