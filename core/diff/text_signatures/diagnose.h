// diagnose.h: why two pipelines part at a door of text. core/doc/text_signatures.md lists the
// causes.
//
// Each function makes A's side again with one thing changed. A cause is named only if that does
// what B does on the given input and on probes, and plain A does not; else nothing is named.
#pragma once

#include <optional>

#include "core/diff/report.h"
#include "core/diff/text_evidence.h"

namespace plumbline::diff {

std::optional<Cause> diagnose_tokens(const TokenEvidence& evidence);  // door 10
std::optional<Cause> diagnose_template(const TemplateEvidence& evidence);  // door 00
std::optional<Cause> diagnose_sampler(const SamplerEvidence& evidence);  // door 40
std::optional<Cause> diagnose_text(const DetokenisationEvidence& evidence);  // doors 50, 60

}  // namespace plumbline::diff
