#include "ggml_types.h"

#include "plumb/sdk/blocks.h"

namespace plumbline::loaders::gguf {
namespace {

const char* foreign_name(uint32_t ggml_type) {
  switch (ggml_type) {
    case 4:
      return "Q4_2 (withdrawn)";
    case 5:
      return "Q4_3 (withdrawn)";
    case 9:
      return "Q8_1";
    case 15:
      return "Q8_K";
    case 16:
      return "IQ2_XXS";
    case 17:
      return "IQ2_XS";
    case 18:
      return "IQ3_XXS";
    case 19:
      return "IQ1_S";
    case 20:
      return "IQ4_NL";
    case 21:
      return "IQ3_S";
    case 22:
      return "IQ2_S";
    case 23:
      return "IQ4_XS";
    case 24:
      return "I8";
    case 25:
      return "I16";
    case 27:
      return "I64";
    case 28:
      return "F64";
    case 29:
      return "IQ1_M";
    case 34:
      return "TQ1_0";
    case 35:
      return "TQ2_0";
    case 39:
      return "MXFP4";
    default:
      return nullptr;
  }
}

}  // namespace

std::string ggml_type_name(uint32_t ggml_type) {
  if (const FormatInfo* info =
          ggml_type > INT32_MAX ? nullptr : find_format(static_cast<plumb_format>(ggml_type))) {
    return std::string(info->name);
  }
  const char* foreign = foreign_name(ggml_type);
  return foreign != nullptr ? foreign : "type " + std::to_string(ggml_type);
}

}  // namespace plumbline::loaders::gguf
