// kv_size.h: what the KV caches of a model will take, known before anything is loaded.
#pragma once

#include <cstdint>

#include "core/model/hyper_parameters.h"
#include "plumb/formats.h"
#include "plumb/sdk/result.h"

namespace plumbline::model {

/// Bytes of K and V of so many rows over all layers, and of the keys kept un-rotated where they are
/// (f32, whatever the format). Backends round rows and head widths up to what their vectors need,
/// which is less than a row of 16 more. Fails INVALID_ARGUMENT: no 64-bit number of bytes.
Result<uint64_t> kv_bytes(const HyperParameters& hp, uint64_t rows, plumb_format format,
                          bool keeps_unrotated);

/// Fails INVALID_ARGUMENT, with how many rows would fit: the caches take more than budget_bytes.
Result<void> check_kv_budget(const HyperParameters& hp, uint64_t rows, plumb_format format,
                             bool keeps_unrotated, uint64_t budget_bytes);

}  // namespace plumbline::model
