#include "rewrite.h"

#include <optional>

#include "plumb/sdk/blocks.h"

namespace plumbline::loaders::gguf {
namespace {

constexpr uint32_t kQuantizationVersion = 2;  // Source: ggml.h, GGML_QNT_VERSION

struct FileType {
  plumb_format format;
  uint32_t number;
};

/// Source: llama.h, enum llama_ftype: "mostly" that format; of the K formats the plain mixture (S).
constexpr FileType kFileTypes[] = {
    {PLUMB_F32, 0},   {PLUMB_F16, 1},   {PLUMB_Q4_0, 2},  {PLUMB_Q4_1, 3},  {PLUMB_Q8_0, 7},
    {PLUMB_Q5_0, 8},  {PLUMB_Q5_1, 9},  {PLUMB_Q2_K, 10}, {PLUMB_Q3_K, 11}, {PLUMB_Q4_K, 14},
    {PLUMB_Q5_K, 16}, {PLUMB_Q6_K, 18}, {PLUMB_BF16, 32},
};

Result<uint32_t> file_type(plumb_format format) {
  for (const FileType& known : kFileTypes) {
    if (known.format == format) return known.number;
  }
  return Error{PLUMB_UNSUPPORTED, "no GGUF file is mostly " + std::string(format_name(format))};
}

/// Grows a head by numbers and strings as the format writes them.
class Head {
 public:
  explicit Head(std::string_view begin) : bytes_(begin.begin(), begin.end()) {}

  template <typename T>
  void number(T value) {
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), raw, raw + sizeof value);
  }
  void string(std::string_view text) {
    number<uint64_t>(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  template <typename T>
  void replace(uint64_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  uint64_t size() const { return bytes_.size(); }
  std::vector<uint8_t> take() && { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

/// Sets a u32 of the metadata in place, or appends it. Returns how many entries were added.
Result<uint64_t> set_u32(Head& head, const Metadata& metadata, const char* key, uint32_t value) {
  const Entry* entry = metadata.find(key);
  if (entry == nullptr) {
    head.string(key);
    head.number<uint32_t>(kU32);
    head.number(value);
    return uint64_t{1};
  }
  if (entry->type != kU32)
    return corrupt(entry->offset, std::string(key) + " is " + type_name(*entry) + ", expected u32");
  head.replace(entry->offset, value);
  return uint64_t{0};
}

std::optional<uint64_t> checked_sum(uint64_t a, uint64_t b) {
  if (a > UINT64_MAX - b) return std::nullopt;
  return a + b;
}

std::optional<uint64_t> aligned(std::optional<uint64_t> bytes, uint64_t alignment) {
  if (bytes) bytes = checked_sum(*bytes, alignment - 1);
  if (bytes) *bytes = *bytes / alignment * alignment;
  return bytes;
}

Result<uint64_t> bytes_in(const plumb_tensor& tensor, plumb_format format) {
  const std::string where = "tensor " + quoted(to_view(tensor.name));
  const FormatInfo* info = find_format(format);
  if (info == nullptr) {
    return Error{PLUMB_UNSUPPORTED,
                 where + ": format " + std::to_string(format) + " is not of GGUF files"};
  }
  const uint64_t row = tensor.dims[tensor.rank - 1];
  if (row % info->block_values != 0) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 where + ": row of " + std::to_string(row) + " values, expected a multiple of " +
                     std::to_string(info->block_values) + " for " + std::string(info->name)};
  }
  const auto bytes = tensor_bytes(format, std::span(tensor.dims, tensor.rank));
  if (!bytes) return Error{PLUMB_INVALID_ARGUMENT, where + ": more than 2^64 bytes"};
  return *bytes;
}

}  // namespace

Result<Layout> rewrite(const File& file, plumb_format main_format,
                       std::span<const plumb_format> formats) {
  const auto& tensors = file.tensors();
  if (formats.size() != tensors.size()) {
    return Error{PLUMB_INVALID_ARGUMENT, std::to_string(formats.size()) + " formats for " +
                                             std::to_string(tensors.size()) + " tensors"};
  }
  PLUMB_ASSIGN(const uint32_t type, file_type(main_format));
  const Metadata& metadata = file.metadata();
  Head head(file.before_tensors());
  PLUMB_ASSIGN(const uint64_t n_first, set_u32(head, metadata, "general.file_type", type));
  PLUMB_ASSIGN(const uint64_t n_second,
               set_u32(head, metadata, "general.quantization_version", kQuantizationVersion));
  head.replace<uint64_t>(File::kEntryCountAt, metadata.entries().size() + n_first + n_second);

  Layout layout;
  std::optional<uint64_t> end = 0;  // of the data, counted from where it starts
  for (size_t i = 0; i < tensors.size(); ++i) {
    const plumb_tensor& tensor = tensors[i];
    PLUMB_ASSIGN(const uint64_t bytes, bytes_in(tensor, formats[i]));
    head.string(to_view(tensor.name));
    head.number(tensor.rank);
    for (uint32_t d = tensor.rank; d-- > 0;) head.number(tensor.dims[d]);  // the fastest first
    head.number(static_cast<uint32_t>(formats[i]));
    head.number(*end);
    layout.offsets.push_back(*end);
    end = aligned(checked_sum(*end, bytes), file.alignment());
    if (!end) return Error{PLUMB_INVALID_ARGUMENT, "tensors of more than 2^64 bytes"};
  }
  const std::optional<uint64_t> data_at = aligned(head.size(), file.alignment());
  const std::optional<uint64_t> file_bytes = checked_sum(*data_at, *end);
  if (!file_bytes) return Error{PLUMB_INVALID_ARGUMENT, "a file of more than 2^64 bytes"};
  for (uint64_t& offset : layout.offsets) offset += *data_at;
  layout.file_bytes = *file_bytes;
  layout.head = std::move(head).take();
  return layout;
}

}  // namespace plumbline::loaders::gguf
