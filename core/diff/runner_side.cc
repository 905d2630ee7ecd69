#include "core/diff/runner_side.h"

#include <algorithm>

#include "core/runner/runner.h"

namespace plumbline::diff {
namespace {

class RunnerSide : public Side {
 public:
  RunnerSide(const config::ResolvedConfig& config, pipeline::Pipeline& pipeline)
      : Side(config, pipeline) {}

  Result<void> start(const SideOptions& side) {
    PLUMB_TRY(identify(side));
    const model::ModelFile& file = pipeline().file();
    runner::StartOptions options;
    options.runner = config().config.runner;
    options.model_path = file.path();
    options.n_threads = config().config.kernels.threads.value_or(0);
    PLUMB_ASSIGN(options.folder, runner::installed_runners());
    options.n_vocab = hyper_parameters().n_vocab;
    PLUMB_ASSIGN(options.vocabulary_sha256, vocabulary_sha256());
    options.on_progress = side.on_progress;
    options.cancelled = [cancel = side.cancel] {
      return cancel != nullptr && cancel->load(std::memory_order_relaxed);
    };
    PLUMB_ASSIGN(runner_, runner::Runner::start(options));
    ops_ = runner_->mapped_ops();
    const runner::RunnerInfo& info = runner_->info();
    if (info.vocabulary_sha256.empty()) {
      add_note(info.engine +
               " does not tell its vocabulary: that its ids mean the same bytes was not checked");
    }
    const bool is_f32 = info.numerics.empty() || info.numerics == "f32";
    numerics_.numerics = info.engine;
    numerics_.activations = is_f32 ? "f32" : info.numerics;
    numerics_.kv = "f32";
    op_class_ = {numerics_.numerics, numerics_.activations, "", ""};
    identity_.is_runner = true;
    identity_.backend = info.engine;
    identity_.variant = info.engine_version;
    identity_.numerics = numerics_.numerics;
    identity_.activations = numerics_.activations;
    identity_.kv = numerics_.kv;
    identity_.plugins["runner"] = info.engine + " " + info.engine_version;
    return {};
  }

  const NumericsClass* op_class(std::string_view op) const override {
    return std::find(ops_.begin(), ops_.end(), op) == ops_.end() ? nullptr : &op_class_;
  }
  const std::vector<std::string>& op_names() const override { return ops_; }

  Result<void> restart() override {
    n_past_ = 0;
    return {};
  }

  Result<std::span<const float>> forward(std::span<const int32_t> ids,
                                         const ForwardRequest& request) override {
    if (request.observer != nullptr) {
      return Error{PLUMB_UNSUPPORTED,
                   "a foreign engine can be A, not B: none of its ops can be "
                   "run on the inputs of another"};
    }
    runner::ForwardOptions options;
    if (request.recording != nullptr) options.ops = ops_;
    options.all_rows = request.all_rows;
    options.keep = n_past_;
    PLUMB_ASSIGN(runner::RunnerOutput output, runner_->forward(ids, options));
    n_past_ += static_cast<uint32_t>(ids.size());
    if (output.has_observer_effect()) {
      has_observer_effect_ = true;
      add_note(identity_.backend + ": its logits are others where its ops are watched");
    }
    if (request.recording != nullptr) {
      for (const std::string& op : output.recording.ops()) {
        const trace::Rows& rows = *output.recording.find(op);
        PLUMB_TRY(request.recording->put(op, rows.first_position, rows.width, rows.values));
      }
    }
    logits_ = std::move(output.logits);
    return std::span<const float>(logits_);
  }

 private:
  std::unique_ptr<runner::Runner> runner_;
  std::vector<std::string> ops_;
  NumericsClass op_class_;
  uint32_t n_past_ = 0;
  std::vector<float> logits_;
};

}  // namespace

Result<std::unique_ptr<Side>> make_runner_side(const SideOptions& options,
                                               const config::ResolvedConfig& config,
                                               pipeline::Pipeline& pipeline) {
  auto side = std::make_unique<RunnerSide>(config, pipeline);
  PLUMB_TRY(side->start(options));
  return std::unique_ptr<Side>(std::move(side));
}

}  // namespace plumbline::diff
