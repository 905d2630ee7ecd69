// comparable.h: do two sides' logits mean the same ids?
#pragma once

#include "core/diff/side.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// Fails INCOMPATIBLE: the vocabularies differ, or logits have another width. Also as a side does.
Result<void> check_comparable(Side& a, Side& b);

}  // namespace plumbline::diff
