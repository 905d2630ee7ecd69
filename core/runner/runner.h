// runner.h: a foreign engine as a process: ids in, logits out, and what it left at its ops under
// our names. It speaks plumb.runner/1 (core/doc/runner.md); nothing it says is trusted.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/pipeline_config.h"
#include "core/runner/op_map.h"
#include "core/runner/wire.h"
#include "core/trace/recording.h"
#include "plumb/sdk/result.h"

namespace plumbline::runner {

struct StartOptions {
  config::RunnerConfig runner;
  std::string model_path;
  uint32_t n_threads = 0;  // 0: the engine's own choice
  /// Where installed runners lie, a folder each; installed_runners() is the usual one.
  std::string folder;
  /// What the model's vocabulary must be; 0 and "": anything.
  uint32_t n_vocab = 0;
  std::string vocabulary_sha256 = {};
  /// Told once when a step takes long, and then now and again. Both may be empty.
  std::function<void(const std::string& line)> on_progress = {};
  std::function<bool()> cancelled = {};
};

struct RunnerInfo {
  std::string engine;  // "transformers"
  std::string engine_version;  // "5.24.0"
  std::string numerics;  // of the loaded model: "f32"
  std::string architecture;  // GGUF's name for it, where there is one
  uint32_t n_vocab = 0;
  uint32_t n_layers = 0;
  uint32_t n_context = 0;  // ids that a session holds at most
  std::string vocabulary_sha256;  // as vocabulary_sha256() makes it; "": the runner does not tell
  Sizes sizes;
  std::vector<TapInfo> taps;
};

struct ForwardOptions {
  std::vector<std::string> ops = {};  // ours, of mapped_ops(); others are an error
  bool all_rows = false;  // logits of every id, not of the last alone
  uint32_t keep = 0;  // ids of the session that stay in front of these
  /// With ops: asks once more without them, so that an observer effect shows.
  bool checks_observer = true;
};

struct RunnerOutput {
  uint32_t first_position = 0;  // of the first row of logits
  uint32_t n_rows = 0;
  std::vector<float> logits;  // f32[n_rows,V]
  trace::Recording recording;  // the ops asked for, in our names
  std::string logits_sha256;  // of the bytes of logits
  std::string untapped_sha256;  // of the same without taps; empty: not asked

  /// Did asking for taps change the logits?
  bool has_observer_effect() const {
    return !untapped_sha256.empty() && untapped_sha256 != logits_sha256;
  }
};

/// Not safe for two threads at once.
class Runner {
 public:
  /// Starts the process, loads the model, reads the map. Fails INVALID_CONFIG (an unknown name, the
  /// map, options), NOT_FOUND (a file, the engine), INCOMPATIBLE (another protocol or vocabulary),
  /// and as the runner says. Every message has the end of what it wrote on its standard error.
  static Result<std::unique_ptr<Runner>> start(const StartOptions& options);
  ~Runner();

  const RunnerInfo& info() const { return info_; }
  /// Our ops that the map joins with taps, in the map's order.
  std::vector<std::string> mapped_ops() const;
  /// Ids that the session holds.
  uint32_t n_past() const { return n_past_; }

  /// Puts ids behind the first `keep` of the session, whose others are forgotten. Fails
  /// INVALID_ARGUMENT (no ids, no room, an op that is not mapped), NUMERIC (a logit that is no
  /// number), as the runner says, and for a runner that breaks the protocol, dies or is late; that
  /// one is ended, and all further calls fail with the same reason.
  Result<RunnerOutput> forward(std::span<const int32_t> ids, const ForwardOptions& options = {});

 private:
  explicit Runner(const StartOptions& options) : options_(options) {}

  /// One question and the line of its answer; what: for messages.
  Result<Answer> ask(const std::string& what, nlohmann::json request, std::span<const int32_t> ids,
                     const os::Deadline& deadline);
  Result<void> hello();
  Result<void> load();
  Result<void> read_map(const std::string& folder);
  Result<RunnerOutput> forward_once(std::span<const int32_t> ids, const ForwardOptions& options,
                                    const std::vector<const MappedOp*>& ops);
  os::Deadline deadline(const std::string& what) const;
  /// Ends the process and remembers why.
  Error give_up(const std::string& what, Error error);

  StartOptions options_;
  std::string title_;  // "runner transformers"
  std::unique_ptr<os::Child> child_;
  std::optional<Error> broken_;
  RunnerInfo info_;
  std::vector<MappedOp> map_;
  uint32_t n_past_ = 0;
};

/// ../lib/plumbline/runners from the executable.
Result<std::string> installed_runners();

/// One hash for a vocabulary's table from ids to bytes: SHA-256 of, for each id in order, the count
/// of its bytes as u32 and the bytes that it adds to a text (control and unused tokens: literals).
std::string vocabulary_sha256(uint32_t n_ids,
                              const std::function<std::string_view(int32_t)>& bytes_of);

}  // namespace plumbline::runner
