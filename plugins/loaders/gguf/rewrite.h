// rewrite.h: the head of a GGUF file whose tensors have other formats.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "file.h"

namespace plumbline::loaders::gguf {

struct Layout {
  std::vector<uint8_t> head;
  std::vector<uint64_t> offsets;  // of each tensor's bytes, in the file
  uint64_t file_bytes;
};

/// Everything but the data: version, metadata and alignment are the file's own, byte for byte, but
/// for general.file_type and general.quantization_version, which are appended if missing. Tensors
/// lie in the order of their descriptions, as readers of the format demand.
/// Fails as plumb_model_writer.layout does.
Result<Layout> rewrite(const File& file, plumb_format main_format,
                       std::span<const plumb_format> formats);

}  // namespace plumbline::loaders::gguf
