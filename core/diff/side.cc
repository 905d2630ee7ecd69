#include "core/diff/side.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "core/diff/runner_side.h"
#include "core/hash/sha256.h"
#include "core/runner/runner.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::diff {
namespace {

template <typename Names>
std::string joined(const Names& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : "+") + name;
  return all;
}

// Formats of the file's matrices: vectors are f32 in every file.
std::string weight_formats(const model::ModelFile& file) {
  std::set<std::string> formats;
  for (const auto& [name, entry] : file.tensors()) {
    if (entry.tensor.rank >= 2) formats.insert(std::string(format_name(entry.tensor.format)));
  }
  return joined(formats);
}

// This project's decoder.
class PipelineSide : public Side {
 public:
  PipelineSide(const config::ResolvedConfig& config, pipeline::Pipeline& pipeline,
               model::Decoder& decoder)
      : Side(config, pipeline), decoder_(&decoder) {}

  Result<void> describe(const SideOptions& options) {
    PLUMB_TRY(identify(options));
    std::set<std::string> numerics, ids;
    for (const auto& backend : pipeline().backends()) {
      numerics.insert(backend->numerics());
      ids.insert(backend->id());
    }
    const config::KernelsConfig& kernels = config().config.kernels;
    numerics_.numerics = joined(numerics);
    numerics_.activations = kernels.activations == config::Activations::kQ8 ? "q8" : "f32";
    numerics_.kv = kernels.kv == config::KvFormat::kF16 ? "f16" : "f32";
    identity_.backend = pipeline().backends().front()->id();
    identity_.variant = kernels.variant;
    identity_.numerics = numerics_.numerics;
    identity_.activations = numerics_.activations;
    identity_.kv = numerics_.kv;
    identity_.plugins["kernels"] = joined(ids);
    for (const model::OpInfo* op : decoder_->ops()) {
      ops_.push_back(op->name);
      classes_.emplace(op->name, class_of(*op));
    }
    return {};
  }

  const NumericsClass* op_class(std::string_view op) const override {
    const auto found = classes_.find(op);
    return found == classes_.end() ? nullptr : &found->second;
  }
  const std::vector<std::string>& op_names() const override { return ops_; }

  Result<void> restart() override { return decoder_->truncate(0); }

  model::Decoder* decoder() override { return decoder_; }
  Result<model::Decoder*> twin(size_t number) override {
    while (twins_.size() <= number) {
      PLUMB_ASSIGN(std::unique_ptr<model::Decoder> made, decoder_->twin());
      twins_.push_back(std::move(made));
    }
    return twins_[number].get();
  }

  Result<std::span<const float>> forward(std::span<const int32_t> ids,
                                         const ForwardRequest& request) override {
    trace::Recording none;
    trace::Recorder recorder(request.recording != nullptr ? *request.recording : none);
    decoder_->set_observer(request.recording != nullptr ? &recorder : request.observer);
    decoder_->set_cancel(request.cancel);
    auto logits = run(ids, request.all_rows);
    decoder_->set_cancel(nullptr);
    decoder_->set_observer(nullptr);
    return logits;
  }

 private:
  Result<std::span<const float>> run(std::span<const int32_t> ids, bool all_rows) {
    if (!all_rows) return decoder_->forward(ids);
    rows_.clear();
    PLUMB_TRY(decoder_->forward_all(ids, [&](uint32_t, std::span<const float> row) {
      rows_.insert(rows_.end(), row.begin(), row.end());
    }));
    return std::span<const float>(rows_);
  }

  NumericsClass class_of(const model::OpInfo& op) {
    NumericsClass found;
    found.numerics = pipeline().backends()[op.backend]->numerics();
    if (op.kind == PLUMB_OP_MATMUL)
      found.activations = op.operands.front().quantised_by >= 0 ? "q8" : "f32";
    if (op.kind == PLUMB_OP_KV_APPEND || op.kind == PLUMB_OP_ATTEND) found.kv = numerics_.kv;
    if (op.kind == PLUMB_OP_MATMUL || op.kind == PLUMB_OP_EMBED) {
      if (const auto* entry = pipeline().file().find(op.weight))
        found.weights = std::string(format_name(entry->tensor.format));
    }
    return found;
  }

  model::Decoder* decoder_;
  std::vector<std::unique_ptr<model::Decoder>> twins_;
  std::vector<std::string> ops_;
  std::map<std::string, NumericsClass, std::less<>> classes_;
  std::vector<float> rows_;  // of all ids
};

}  // namespace

Result<void> Side::identify(const SideOptions& options) {
  identity_.config = options.name;
  identity_.model_sha256 = options.model_sha256;
  const model::ModelFile& file = pipeline().file();
  if (identity_.model_sha256.empty()) {
    PLUMB_ASSIGN(identity_.model_sha256, sha256_of_path(file.path()));
  }
  PLUMB_ASSIGN(hyper_parameters_, file.hyper_parameters());
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, pipeline().tokenizer());
  identity_.tokenizer = tokenizer->id();
  PLUMB_ASSIGN(const std::string_view source, pipeline().template_text());
  std::string template_engine;
  if (!source.empty()) {
    identity_.chat_template_sha256 = sha256_of(source);
    // A text that no engine takes is a finding for whoever renders it.
    if (const auto engine = pipeline().chat_template()) template_engine = (*engine)->id();
  }
  numerics_.weights = identity_.weights = weight_formats(file);
  identity_.plugins = {{"loader", pipeline().loader_id()}, {"tokenizer", identity_.tokenizer}};
  if (!template_engine.empty()) identity_.plugins["template"] = template_engine;
  return {};
}

Result<model::Decoder*> Side::twin(size_t) {
  return Error{PLUMB_UNSUPPORTED, "a foreign engine's weights are its own"};
}

void Side::add_note(const std::string& note) {
  if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
}

Result<std::string> Side::vocabulary_sha256() {
  if (vocabulary_sha256_.empty()) {
    PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, pipeline().tokenizer());
    vocabulary_sha256_ = runner::vocabulary_sha256(tokenizer->info().n_vocab, [&](int32_t id) {
      // An id without bytes is as good as one that stands for none.
      const auto piece = tokenizer->piece(id, false);
      return piece ? *piece : std::string_view();
    });
  }
  return vocabulary_sha256_;
}

Result<std::unique_ptr<Side>> make_side(const SideOptions& options,
                                        const config::ResolvedConfig& config,
                                        pipeline::Pipeline& pipeline) {
  if (config.config.runner.is_wanted()) return make_runner_side(options, config, pipeline);
  PLUMB_ASSIGN(model::Decoder* const decoder, pipeline.decoder());
  auto side = std::make_unique<PipelineSide>(config, pipeline, *decoder);
  PLUMB_TRY(side->describe(options));
  return std::unique_ptr<Side>(std::move(side));
}

bool promises_equal(Side& a, Side& b) {
  if (a.op_names() != b.op_names() || a.identity().is_runner || b.identity().is_runner)
    return false;
  if (a.identity().model_sha256 != b.identity().model_sha256) return false;
  return std::all_of(a.op_names().begin(), a.op_names().end(), [&](const std::string& op) {
    const NumericsClass& of_a = *a.op_class(op);
    return of_a == *b.op_class(op) && of_a.promises_equal_bits();
  });
}

bool templates_differ(Side& a, Side& b) {
  if (a.identity().chat_template_sha256.empty() && b.identity().chat_template_sha256.empty())
    return false;
  const auto engine_of = [](const Side& side) {
    const auto found = side.identity().plugins.find("template");
    return found == side.identity().plugins.end() ? std::string() : found->second;
  };
  const config::TemplateConfig& of_a = a.config().config.chat_template;
  const config::TemplateConfig& of_b = b.config().config.chat_template;
  return a.identity().chat_template_sha256 != b.identity().chat_template_sha256 ||
         engine_of(a) != engine_of(b) || of_a.undefined != of_b.undefined ||
         of_a.thinking != of_b.thinking || of_a.trusts_assistant != of_b.trusts_assistant;
}

bool same_tensor(Side& a, Side& b, const std::string& tensor) {
  const model::ModelFile& file_a = a.pipeline().file();
  const model::ModelFile& file_b = b.pipeline().file();
  const std::string& hash = a.identity().model_sha256;
  if (hash == b.identity().model_sha256) return true;
  const auto* in_a = file_a.find(tensor);
  const auto* in_b = file_b.find(tensor);
  if (in_a == nullptr || in_b == nullptr) return in_a == in_b;
  const plumb_tensor& x = in_a->tensor;
  const plumb_tensor& y = in_b->tensor;
  return x.format == y.format && x.data.bytes == y.data.bytes &&
         std::memcmp(x.data.data, y.data.data, x.data.bytes) == 0;
}

}  // namespace plumbline::diff
