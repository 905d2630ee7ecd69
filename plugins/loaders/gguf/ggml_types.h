// ggml_types.h: names of the tensor types that ggml numbers, for those that plumb/formats.h does
// not have.
#pragma once

#include <cstdint>
#include <string>

namespace plumbline::loaders::gguf {

/// "IQ2_XS", or "type 99" for a number that ggml does not know.
/// Source: ggml.h, enum ggml_type.
std::string ggml_type_name(uint32_t ggml_type);

}  // namespace plumbline::loaders::gguf
