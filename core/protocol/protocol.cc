#include "core/protocol/protocol.h"

#include <chrono>

#include "core/protocol/stages.h"

namespace plumbline::protocol {
namespace {

using StageFunction = Result<void> (*)(const Context&, Stage&);

constexpr std::array<StageFunction, kStages> kFunctions = {
    token_ids, first_step_logits, native_and_wasm, weight_formats, long_run, three_turns};

}  // namespace

const std::array<const char*, kStages> kTitles = {
    "token ids",      "first-step logits in f32", "native and WebAssembly",
    "weight formats", "seeded long run",          "three turns"};

Result<void> run(const Request& request, SideMaker& sides, std::vector<Stage>& done) {
  const Context context{request, sides};
  for (int number = 1; number <= kStages; ++number) {
    Stage stage;
    stage.number = number;
    stage.title = kTitles[static_cast<size_t>(number) - 1];
    if (!request.stages.contains(number)) {
      stage.why_not = "not asked for";
      done.push_back(std::move(stage));
      continue;
    }
    context.say("stage " + std::to_string(number) + ": " + stage.title);
    const auto start = std::chrono::steady_clock::now();
    const auto ended = kFunctions[static_cast<size_t>(number) - 1](context, stage);
    stage.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!ended) {
      // What stopped it half-way has taken something from the verdict.
      const bool cannot_run = !stage.why_not.empty() && stage.summary().n_compared == 0;
      if (!cannot_run) {
        stage.why_not.clear();
        stage.failure = ended.error().message;
      }
    } else if (stage.summary().n_compared == 0 && stage.why_not.empty()) {
      stage.why_not = stage.findings.empty() ? "there was nothing to compare"
                                             : stage.findings.front().statement;
    }
    done.push_back(std::move(stage));
    if (!ended && ended.error().code == PLUMB_CANCELLED) return ended.error();
  }
  return {};
}

}  // namespace plumbline::protocol
