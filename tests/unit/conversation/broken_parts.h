// broken_parts.h: the plugin test.broken, whose tokenizer and kernels are those of this build until
// a test breaks them in the middle of an answer.
#pragma once

#include <atomic>

#include "core/host/host.h"

namespace plumbline::test {

enum class Break { kNothing, kPieceFails, kPieceIsNoUtf8, kNanLogits };

/// What breaks, and after how many uses of that part from now on.
void break_part(Break what, int after);

/// The plugins of this build and test.broken.
Host& host_with_broken_parts();

}  // namespace plumbline::test
