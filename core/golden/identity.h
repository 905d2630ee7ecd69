// identity.h: the hashes by which two runs know that they run the same model.
#pragma once

#include <string>

#include "core/diff/side.h"
#include "core/golden/bundle.h"
#include "core/host/host.h"

namespace plumbline::golden {

/// SHA-256 of every "tokenizer.*" value of a file's metadata but the chat templates, in the order
/// of the keys; the encoding is in core/doc/golden_bundles.md.
std::string tokenizer_sha256(const plumb_metadata& metadata);

/// Weights, tokenizer and template of a pipeline; the rest is left empty. Reads all weights.
Result<Identity> model_identity(pipeline::Pipeline& pipeline);

/// The same, with arithmetic, plugins and config of a side. host: where its plugins were found.
Result<Identity> identity_of(diff::Side& side, const Host& host);

/// Fails INCOMPATIBLE, with both hashes, unless weights, tokenizer and template are the recorded
/// ones.
Result<void> check_identity(const Identity& recorded, const Identity& seen);

}  // namespace plumbline::golden
