// npy.h: NumPy's array file, for little-endian float32 in row-major order.
// Source: NEP 1, "A Simple File Format for NumPy Arrays", versions 1.0 and 2.0.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline {

struct NpyArray {
  std::vector<uint64_t> shape;
  std::vector<float> values;
};

/// What stands in front of an f32 array's values, for a file that is written row by row.
std::string npy_header(std::span<const uint64_t> shape);
/// Its bytes for every shape of two dimensions below 2^32.
inline constexpr size_t kNpyMatrixHeaderBytes = 128;

/// The whole file of an f32 array.
std::string npy_bytes(std::span<const uint64_t> shape, std::span<const float> values);

/// Fails CORRUPT: no .npy file, another type than '<f4', Fortran order, more than 8 dimensions, or
/// fewer bytes than the shape asks for.
Result<NpyArray> parse_npy(std::string_view file);

}  // namespace plumbline
