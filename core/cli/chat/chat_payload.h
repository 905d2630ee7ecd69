// chat_payload.h: the diagnostics payload of a conversation's answers.
#pragma once

#include "core/cli/session.h"
#include "core/pipeline/diagnostics.h"

namespace plumbline::cli {

/// Makes the parts of a conversation, and tells the payload which they are and how far it came. The
/// model's checksum is told where its source is pinned: no file is read for it. Every failure ends
/// the verb.
void open_parts(Session& session, pipeline::Diagnostics& told);

/// A new transaction of the same parts. sampling: as it is now.
pipeline::Diagnostics next_transaction(const pipeline::Diagnostics& opened,
                                       const config::SamplingConfig& sampling);

}  // namespace plumbline::cli
