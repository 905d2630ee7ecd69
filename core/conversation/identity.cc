#include "core/conversation/identity.h"

#include "core/hash/sha256.h"

namespace plumbline::conversation {
namespace {

// Texts one after the other, each with its length, so that no two lists hash alike.
class Hash {
 public:
  Hash& operator<<(std::string_view text) {
    hash_.update(std::to_string(text.size()) + ":");
    hash_.update(text);
    return *this;
  }
  Hash& operator<<(uint64_t number) { return *this << std::string_view(std::to_string(number)); }
  std::string finish() { return hash_.finish(); }

 private:
  Sha256 hash_;
};

std::string vocabulary_sha256(const pipeline::Tokenizer& tokenizer) {
  Hash hash;
  for (uint32_t at = 0; at < tokenizer.info().n_vocab; ++at) {
    const auto id = static_cast<int32_t>(at);
    const auto piece = tokenizer.piece(id, false);
    hash << uint64_t{tokenizer.attributes(id)} << (piece ? *piece : std::string_view());
  }
  return hash.finish();
}

// Equal bits are promised by every other class.
constexpr std::string_view kPromisesNothing = "fast";

std::string numerics_sha256(const pipeline::Pipeline& pipeline) {
  const config::KernelsConfig& kernels = pipeline.config().kernels;
  Hash hash;
  hash << static_cast<uint64_t>(kernels.activations) << static_cast<uint64_t>(kernels.kv);
  hash << kernels.options_json;
  for (const auto& backend : pipeline.backends()) {
    const std::string numerics = backend->numerics();
    hash << numerics;
    if (numerics == kPromisesNothing) hash << backend->id() << kernels.variant;
  }
  for (const config::KernelOverride& choice : kernels.overrides) {
    hash << choice.op << choice.layers.first << choice.layers.last << choice.backend
         << choice.options_json;
  }
  return hash.finish();
}

Result<void> check_same(const char* what, const std::string& saved, const std::string& present) {
  if (saved == present) return {};
  return Error{PLUMB_INVALID_ARGUMENT, std::string("a conversation with another ") + what +
                                           ": SHA-256 " + saved.substr(0, 64) + ", expected " +
                                           present};
}

}  // namespace

std::string sampling_sha256(const config::SamplingConfig& sampling) {
  Hash hash;
  for (const config::StageConfig& stage : sampling.stages)
    hash << stage.stage << stage.plugin << stage.params_json;
  hash << uint64_t{sampling.breakers.size()};
  for (const std::string& breaker : sampling.breakers) hash << std::string_view(breaker);
  return hash.finish();
}

model::StateIdentity rows_identity(const Identity& identity) {
  const std::string hash =
      (Hash() << std::string_view(identity.model) << std::string_view(identity.numerics)).finish();
  model::StateIdentity bytes;
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(std::stoi(hash.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

Result<Identity> identity_of(pipeline::Pipeline& pipeline, const std::string& model_sha256) {
  Identity identity;
  identity.model = model_sha256;
  if (identity.model.empty()) {
    PLUMB_ASSIGN(identity.model, sha256_of_path(pipeline.file().path()));
  }
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, pipeline.tokenizer());
  identity.vocabulary = vocabulary_sha256(*tokenizer);
  PLUMB_ASSIGN(const std::string_view source, pipeline.template_text());
  identity.chat_template =
      (Hash() << source << std::string_view(pipeline.config().chat_template.undefined)).finish();
  identity.sampling = sampling_sha256(pipeline.config().sampling);
  identity.numerics = numerics_sha256(pipeline);
  return identity;
}

Result<void> check_same(const Identity& saved, const Identity& present) {
  PLUMB_TRY(check_same("model", saved.model, present.model));
  PLUMB_TRY(check_same("vocabulary", saved.vocabulary, present.vocabulary));
  return check_same("chat template", saved.chat_template, present.chat_template);
}

}  // namespace plumbline::conversation
