// nan_embedding.h: a model that fails in the midst of a step, for whoever says one word.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "core/model/model_file.h"

namespace plumbline::test {

/// The model file's bytes, with an embedding of the id that is not a number.
inline std::string with_nan_embedding(const std::string& path, const model::ModelFile& file,
                                      int32_t id) {
  std::ifstream stream(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(stream), {});
  const plumb_tensor& embedding = file.find("token_embd.weight")->tensor;
  const uint64_t row_bytes = embedding.data.bytes / embedding.dims[0];
  // All ones are a NaN in every format of floats.
  const auto first = bytes.begin() + static_cast<ptrdiff_t>(embedding.file_offset + id * row_bytes);
  std::fill_n(first, row_bytes, static_cast<char>(0xff));
  return bytes;
}

}  // namespace plumbline::test
