#include "file.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "ggml_types.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::loaders::gguf {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint32_t kOldestVersion = 2;  // version 1 had 32-bit counts
constexpr uint32_t kNewestVersion = 3;
constexpr uint64_t kMaxTensorNameBytes = 64;
constexpr uint64_t kMinTensorInfoBytes = 8 + 1 + 4 + 8 + 4 + 8;
constexpr uint64_t kMinAlignment = 8;

std::string tensor(std::string_view name) {
  return "tensor " + quoted(name);
}

Result<uint64_t> alignment_of(const Metadata& metadata) {
  const Entry* entry = metadata.find("general.alignment");
  if (entry == nullptr) return uint64_t{32};
  if (entry->type == kU32 && entry->value.as.u64 >= kMinAlignment &&
      std::has_single_bit(entry->value.as.u64)) {
    return entry->value.as.u64;
  }
  return corrupt(entry->offset, "general.alignment is " +
                                    (entry->type == kU32 ? std::to_string(entry->value.as.u64)
                                                         : type_name(*entry)) +
                                    ", expected a u32 that is a power of two from 8");
}

/// The three arrays that describe one vocabulary must speak of the same tokens.
Result<void> check_vocabulary(const Metadata& metadata) {
  const auto check = [&](const char* key, uint32_t type, const char* expected,
                         const Entry* tokens) -> Result<void> {
    const Entry* entry = metadata.find(key);
    if (entry == nullptr) return {};
    if (entry->type != kArray || entry->element_type != type) {
      return corrupt(entry->offset, std::string(key) + " is " + type_name(*entry) +
                                        ", expected array of " + expected);
    }
    if (tokens != nullptr && entry->value.as.array.n != tokens->value.as.array.n) {
      return corrupt(entry->offset,
                     std::string(key) + " has " + std::to_string(entry->value.as.array.n) +
                         " elements, expected " + std::to_string(tokens->value.as.array.n) +
                         ", one for each token");
    }
    return {};
  };
  PLUMB_TRY(check("tokenizer.ggml.tokens", kString, "string", nullptr));
  const Entry* tokens = metadata.find("tokenizer.ggml.tokens");
  PLUMB_TRY(check("tokenizer.ggml.scores", kF32, "f32", tokens));
  PLUMB_TRY(check("tokenizer.ggml.token_type", kI32, "i32", tokens));
  return check("tokenizer.ggml.merges", kString, "string", nullptr);
}

/// The format that a ggml type is. UNSUPPORTED, with the type's name, if plumb/formats.h does not
/// have it.
Result<const FormatInfo*> known_format(uint32_t ggml_type, uint64_t offset) {
  const FormatInfo* info =
      ggml_type > INT32_MAX ? nullptr : find_format(static_cast<plumb_format>(ggml_type));
  if (info != nullptr) return info;
  std::string names;
  for (const FormatInfo& format : kFormats) names += " " + std::string(format.name);
  return Error{PLUMB_UNSUPPORTED, "byte " + std::to_string(offset) + ": format " +
                                      ggml_type_name(ggml_type) + ", expected one of" + names};
}

/// One tensor's description. data.bytes is its size and file_offset is still relative to the data
/// section.
Result<plumb_tensor> read_tensor(Reader& reader, uint64_t offset, std::string_view name) {
  auto t = make_abi<plumb_tensor>();
  t.name = to_abi(name);
  PLUMB_ASSIGN(t.rank, reader.number<uint32_t>("a tensor's number of dimensions"));
  if (t.rank < 1 || t.rank > 4)
    return corrupt(offset, std::to_string(t.rank) + " dimensions, expected 1 to 4");
  std::fill(std::begin(t.dims), std::end(t.dims), 1);
  for (uint32_t i = t.rank; i-- > 0;) {  // GGUF lists the fastest dimension first
    PLUMB_ASSIGN(t.dims[i], reader.number<uint64_t>("a tensor's dimensions"));
    if (t.dims[i] == 0) return corrupt(reader.at() - 8, "a dimension is 0, expected at least 1");
  }
  const uint64_t type_offset = reader.at();
  PLUMB_ASSIGN(const uint32_t type, reader.number<uint32_t>("a tensor's type"));
  PLUMB_ASSIGN(const FormatInfo* format, known_format(type, type_offset));
  t.format = format->format;
  const uint64_t row = t.dims[t.rank - 1];
  if (row % format->block_values != 0) {
    return corrupt(offset, "row of " + std::to_string(row) + " values, expected a multiple of " +
                               std::to_string(format->block_values) + " for " +
                               std::string(format->name));
  }
  const auto bytes = tensor_bytes(t.format, std::span(t.dims, t.rank));
  if (!bytes) return corrupt(offset, "dimensions ask for more than 2^64 bytes");
  t.data.bytes = *bytes;
  PLUMB_ASSIGN(t.file_offset, reader.number<uint64_t>("a tensor's offset"));
  return t;
}

}  // namespace

Result<void> check_version(plumb_bytes head) {
  const std::string_view text = to_view(head);
  if (text.substr(0, kMagic.size()) != kMagic) {
    return Error{PLUMB_UNSUPPORTED,
                 "byte 0: " + quoted(text.substr(0, kMagic.size())) + ", expected \"GGUF\""};
  }
  Reader reader(head);
  PLUMB_TRY(reader.take(kMagic.size(), "the magic"));
  PLUMB_ASSIGN(const uint32_t version, reader.number<uint32_t>("the version"));
  if (version >= kOldestVersion && version <= kNewestVersion) return {};
  if ((version & 0xffff) == 0 && version != 0) {
    return Error{PLUMB_UNSUPPORTED, "byte 4: a big-endian file, expected little-endian"};
  }
  return Error{PLUMB_UNSUPPORTED,
               "byte 4: GGUF version " + std::to_string(version) + ", expected 2 or 3"};
}

Result<File> File::parse(plumb_bytes bytes) {
  PLUMB_TRY(check_version(bytes));
  Reader reader(bytes);
  PLUMB_TRY(reader.take(8, "the magic and version"));
  PLUMB_ASSIGN(const uint64_t n_tensors, reader.count(kMinTensorInfoBytes, "tensor count"));
  PLUMB_ASSIGN(const uint64_t n_entries, reader.count(Metadata::kMinEntryBytes, "metadata count"));
  File file;
  PLUMB_ASSIGN(file.metadata_, Metadata::read(reader, n_entries));
  PLUMB_TRY(check_vocabulary(file.metadata_));
  PLUMB_ASSIGN(file.alignment_, alignment_of(file.metadata_));
  file.before_tensors_ = to_view(bytes).substr(0, reader.at());
  PLUMB_TRY(file.read_tensors(reader, n_tensors));
  PLUMB_TRY(file.index_tensors());
  PLUMB_TRY(file.place_tensors(bytes, reader.at()));
  return file;
}

Result<void> File::read_tensors(Reader& reader, uint64_t n_tensors) {
  for (uint64_t i = 0; i < n_tensors; ++i) {
    const uint64_t offset = reader.at();
    PLUMB_ASSIGN(const std::string_view name, reader.string("a tensor's name"));
    if (!is_name(name) || name.size() > kMaxTensorNameBytes) {
      return corrupt(offset, "tensor name " + quoted(name) + " of " + std::to_string(name.size()) +
                                 " bytes, expected 1 to 64 bytes of printable ASCII");
    }
    auto t = read_tensor(reader, offset, name);
    if (!t) return std::move(t).error().at(tensor(name));
    tensors_.push_back(*t);
  }
  return {};
}

Result<void> File::place_tensors(plumb_bytes bytes, uint64_t header_bytes) {
  // A header has fewer bytes than a file, and an alignment is below 2^32: no overflow.
  const uint64_t data_offset = (header_bytes + alignment_ - 1) / alignment_ * alignment_;
  const uint64_t data_size = bytes.bytes > data_offset ? bytes.bytes - data_offset : 0;
  for (plumb_tensor& t : tensors_) {
    if (t.file_offset % alignment_ != 0) {
      return corrupt(data_offset, tensor(to_view(t.name)) + " at data offset " +
                                      std::to_string(t.file_offset) + ", expected a multiple of " +
                                      std::to_string(alignment_));
    }
    if (t.file_offset > data_size || t.data.bytes > data_size - t.file_offset) {
      return corrupt(data_offset, tensor(to_view(t.name)) + " has " + std::to_string(t.data.bytes) +
                                      " bytes at data offset " + std::to_string(t.file_offset) +
                                      ", but the data section has " + std::to_string(data_size) +
                                      " bytes");
    }
    t.file_offset += data_offset;
    t.data.data = bytes.data + t.file_offset;
  }
  std::vector<uint32_t> by_offset(tensors_.size());
  std::iota(by_offset.begin(), by_offset.end(), 0u);
  std::ranges::sort(by_offset, {}, [this](uint32_t i) { return tensors_[i].file_offset; });
  for (size_t i = 1; i < by_offset.size(); ++i) {
    const plumb_tensor& before = tensors_[by_offset[i - 1]];
    const plumb_tensor& t = tensors_[by_offset[i]];
    if (t.file_offset - before.file_offset < before.data.bytes) {
      return corrupt(t.file_offset, tensor(to_view(t.name)) + " starts inside " +
                                        tensor(to_view(before.name)) + ", which ends at byte " +
                                        std::to_string(before.file_offset + before.data.bytes));
    }
  }
  return {};
}

Result<void> File::index_tensors() {
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  const auto name = [this](uint32_t i) { return to_view(tensors_[i].name); };
  std::ranges::sort(by_name_, {}, name);
  const auto twin = std::ranges::adjacent_find(by_name_, {}, name);
  if (twin == by_name_.end()) return {};
  return Error{PLUMB_CORRUPT, tensor(name(*twin)) + " is described twice, as number " +
                                  std::to_string(std::min(twin[0], twin[1])) + " and number " +
                                  std::to_string(std::max(twin[0], twin[1]))};
}

const plumb_tensor* File::find_tensor(std::string_view wanted) const {
  const auto name = [this](uint32_t i) { return to_view(tensors_[i].name); };
  const auto at = std::ranges::lower_bound(by_name_, wanted, {}, name);
  return at != by_name_.end() && name(*at) == wanted ? &tensors_[*at] : nullptr;
}

}  // namespace plumbline::loaders::gguf
