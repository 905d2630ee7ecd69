#include "tests/end_to_end/chat_desk.h"

namespace plumbline::test {

std::vector<std::string> ChatDesk::command(const std::string& verb,
                                           const std::vector<std::string>& options) const {
  std::vector<std::string> argv = {"env",
                                   "-u",
                                   "PLUMB_PLUGIN_PATH",
                                   "-C",
                                   path("."),
                                   PLUMB_BUILD_BIN_DIR "/plumb",
                                   verb,
                                   "tiny-world",
                                   "--set",
                                   "kernels.activations=f32"};
  argv.insert(argv.end(), options.begin(), options.end());
  return argv;
}

std::unique_ptr<PtyProgram> ChatDesk::sit_down(const std::vector<std::string>& options,
                                               size_t n_columns, size_t n_rows,
                                               const std::vector<std::string>& environment) const {
  std::vector<std::string> variables = {"XDG_STATE_HOME=" + path("state"),
                                        "XDG_DATA_HOME=" + path("."), "NO_COLOR="};
  variables.insert(variables.end(), environment.begin(), environment.end());
  auto program =
      std::make_unique<PtyProgram>(command("chat", options), variables, n_columns, n_rows);
  program->wait_for("> ");
  return program;
}

std::vector<std::string> ChatDesk::endless() {
  // Without the control tokens nothing ends it.
  return {"--set", "sampling.stages=[{logit_bias: {biases: {0: -inf, 1: -inf, 2: -inf}}}, greedy]",
          "--set", "generation.max_tokens=30000",
          "--set", "context.length=32768"};
}

}  // namespace plumbline::test
