// side.h: one of the two that are compared: a pipeline, whose model is this project's decoder or a
// foreign engine.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/config/load.h"
#include "core/diff/noise.h"
#include "core/diff/report.h"
#include "core/model/decoder.h"
#include "core/model/op_observer.h"
#include "core/pipeline/pipeline.h"
#include "core/trace/recording.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

struct ForwardRequest {
  trace::Recording* recording = nullptr;  // gets what the run left at its ops; null: not asked
  bool all_rows = false;  // logits of every id instead of the last one's
  const std::atomic<bool>* cancel = nullptr;
  model::OpObserver* observer = nullptr;  // takes part; not with a recording, nor with a runner
};

struct SideOptions {
  std::string name;  // what reports call the config
  std::string model_sha256 = {};  // sha256_of_path, where it is known; empty: computed
  // For a foreign engine, whose start may take long. Either may be empty.
  std::function<void(const std::string& line)> on_progress = {};
  const std::atomic<bool>* cancel = nullptr;
};

class Side {
 public:
  virtual ~Side() = default;

  const SideIdentity& identity() const { return identity_; }
  const config::ResolvedConfig& config() const { return *config_; }
  /// Text, ids and picks. Its decoder is only for sides that are no runners.
  pipeline::Pipeline& pipeline() { return *pipeline_; }
  const model::HyperParameters& hyper_parameters() const { return hyper_parameters_; }
  /// SHA-256 of the table from ids to bytes.
  Result<std::string> vocabulary_sha256();
  /// Of the whole: numerics of several backends are joined with "+".
  const NumericsClass& numerics() const { return numerics_; }
  /// How the side computes an op; fields that do not matter for the op are empty. Null: it has none
  /// of that name.
  virtual const NumericsClass* op_class(std::string_view op) const = 0;
  /// Its ops, as far as it tells, in the order in which they run.
  virtual const std::vector<std::string>& op_names() const = 0;

  /// Its logits are others where its ops are watched: nothing that was recorded is sure.
  bool has_observer_effect() const { return has_observer_effect_; }
  /// What a reader must know of this side.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Forgets all ids that forward has seen.
  virtual Result<void> restart() = 0;
  /// Appends ids. f32[V] of the last one, or f32[n,V] of all; valid until the next call. Fails as
  /// the decoder does; a foreign engine also where it dies, hangs or answers rubbish.
  virtual Result<std::span<const float>> forward(std::span<const int32_t> ids,
                                                 const ForwardRequest& request) = 0;

  /// What runs its ops; null: a foreign engine.
  virtual model::Decoder* decoder() { return nullptr; }
  /// Another on the same weights; made when first asked for. number: one has many.
  virtual Result<model::Decoder*> twin(size_t number);

 protected:
  Side(const config::ResolvedConfig& config, pipeline::Pipeline& pipeline)
      : config_(&config), pipeline_(&pipeline) {}

  /// Fills in identity and numerics but for what computes the logits, and the hyper-parameters.
  Result<void> identify(const SideOptions& options);
  /// Once each.
  void add_note(const std::string& note);

  SideIdentity identity_;
  NumericsClass numerics_;
  model::HyperParameters hyper_parameters_;
  bool has_observer_effect_ = false;

 private:
  const config::ResolvedConfig* config_;
  pipeline::Pipeline* pipeline_;
  std::string vocabulary_sha256_;
  std::vector<std::string> notes_;
};

/// The side of a config. Prepares the weights: the slow part. config and pipeline must outlive it.
/// Fails as the pipeline's parts do.
Result<std::unique_ptr<Side>> make_side(const SideOptions& options,
                                        const config::ResolvedConfig& config,
                                        pipeline::Pipeline& pipeline);

/// Equal arithmetic on equal weights, on all ops that either side has.
bool promises_equal(Side& a, Side& b);

/// Do the two render conversations by other texts, engines or settings?
bool templates_differ(Side& a, Side& b);

/// Is a tensor of one file the same, bit for bit, in the other?
bool same_tensor(Side& a, Side& b, const std::string& tensor);

}  // namespace plumbline::diff
