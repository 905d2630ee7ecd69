// interleave.h: from a file's blocks to the panels of layout.h.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/kernels.h"
#include "layout.h"
#include "plumb/formats.h"

namespace plumbline::cpu {

/// Writes panels of 16 rows of a matrix into `out`, where the whole matrix lies.
/// Shapes  tensor [N,K], checked against its bytes and the layout of its format; panels within
///         [0, ceil(N/16)).
/// Fails   the index of the first block with a scale that is not finite, or nothing.
std::optional<uint64_t> interleave(const plumb_tensor& tensor, Range panels, uint8_t* out);

}  // namespace plumbline::cpu
