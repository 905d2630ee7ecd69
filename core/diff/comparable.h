// comparable.h: do two sides fit, and which of them fails?
#pragma once

#include "core/diff/side.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// Do both sides' logits mean the same ids? Fails INCOMPATIBLE: the vocabularies differ, or logits
/// have another width. Also as a side does.
Result<void> check_comparable(Side& a, Side& b);

/// Have both sides the same layers? Fails INCOMPATIBLE: another number, or logits of another width;
/// INVALID_CONFIG: the map of a foreign engine names an op that the other side does not have.
Result<void> check_fit(Side& a, Side& b);

/// side: "A".
Error of_side(const char* side, Error error);

}  // namespace plumbline::diff
