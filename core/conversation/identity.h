// identity.h: what a saved conversation belongs to.
#pragma once

#include <string>
#include <string_view>

#include "core/model/sequence_state.h"
#include "core/pipeline/pipeline.h"

namespace plumbline::conversation {

/// Hashes, SHA-256 in hexadecimal digits. The first three must be equal for a conversation to be
/// restored, the others tell what of it can be used again.
struct Identity {
  std::string model;  // the file
  std::string vocabulary;  // every id's bytes and attributes
  std::string chat_template;  // its text and its profile
  std::string sampling;  // the stages, their plugins and their parameters
  std::string numerics;  // what the bits of rows depend on beside the weights
};

/// Of rows: the same weights, run with the same numerics. Which plugin ran them does not matter
/// where its numerics are a class that promises equal bits (plumb/ext/kernels.h).
model::StateIdentity rows_identity(const Identity& identity);

/// model_sha256: what the model's file hashes to; empty: it is read whole. Fails as the pipeline's
/// parts do.
Result<Identity> identity_of(pipeline::Pipeline& pipeline, const std::string& model_sha256);

std::string sampling_sha256(const config::SamplingConfig& sampling);

/// Fails INVALID_ARGUMENT: a conversation with another model, vocabulary or template; both hashes.
Result<void> check_same(const Identity& saved, const Identity& present);

}  // namespace plumbline::conversation
