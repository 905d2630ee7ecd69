// gguf_writer.h: makes GGUF files in memory, valid ones and, by raw bytes, broken ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::test {

using Bytes = std::vector<uint8_t>;

template <typename T>
void append(Bytes& to, T value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

inline void append_string(Bytes& to, std::string_view text) {
  append<uint64_t>(to, text.size());
  to.insert(to.end(), text.begin(), text.end());
}

template <typename T>
constexpr uint32_t kGgufType = 0;
template <>
inline constexpr uint32_t kGgufType<uint8_t> = 0;
template <>
inline constexpr uint32_t kGgufType<int8_t> = 1;
template <>
inline constexpr uint32_t kGgufType<uint16_t> = 2;
template <>
inline constexpr uint32_t kGgufType<int16_t> = 3;
template <>
inline constexpr uint32_t kGgufType<uint32_t> = 4;
template <>
inline constexpr uint32_t kGgufType<int32_t> = 5;
template <>
inline constexpr uint32_t kGgufType<float> = 6;
template <>
inline constexpr uint32_t kGgufType<bool> = 7;
template <>
inline constexpr uint32_t kGgufType<uint64_t> = 10;
template <>
inline constexpr uint32_t kGgufType<int64_t> = 11;
template <>
inline constexpr uint32_t kGgufType<double> = 12;
constexpr uint32_t kGgufString = 8;
constexpr uint32_t kGgufArray = 9;

class GgufWriter {
 public:
  uint32_t version = 3;
  uint64_t alignment =
      32;  // how the data is laid out; say it in the file by value("general.alignment", ...)

  template <typename T>
  GgufWriter& value(std::string_view key, T value) {
    Bytes bytes;
    append(bytes, value);
    return raw(key, kGgufType<T>, bytes);
  }

  GgufWriter& text(std::string_view key, std::string_view text) {
    Bytes bytes;
    append_string(bytes, text);
    return raw(key, kGgufString, bytes);
  }

  template <typename T>
  GgufWriter& array(std::string_view key, const std::vector<T>& values) {
    Bytes bytes;
    append<uint32_t>(bytes, kGgufType<T>);
    append<uint64_t>(bytes, values.size());
    for (const T value : values) append(bytes, value);
    return raw(key, kGgufArray, bytes);
  }

  GgufWriter& strings(std::string_view key, const std::vector<std::string>& values) {
    Bytes bytes;
    append<uint32_t>(bytes, kGgufString);
    append<uint64_t>(bytes, values.size());
    for (const auto& value : values) append_string(bytes, value);
    return raw(key, kGgufArray, bytes);
  }

  GgufWriter& raw(std::string_view key, uint32_t type, std::span<const uint8_t> value) {
    append_string(entries_, key);
    append(entries_, type);
    entries_.insert(entries_.end(), value.begin(), value.end());
    ++n_entries_;
    return *this;
  }

  /// dims: fastest first, as in the file.
  GgufWriter& tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                     const Bytes& data) {
    const uint64_t offset = data_.size();
    data_.insert(data_.end(), data.begin(), data.end());
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    return tensor_at(name, dims, type, offset);
  }

  /// Only the description, with an offset of the caller's.
  GgufWriter& tensor_at(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                        uint64_t offset) {
    append_string(tensors_, name);
    append(tensors_, static_cast<uint32_t>(dims.size()));
    for (const uint64_t dim : dims) append(tensors_, dim);
    append(tensors_, type);
    append(tensors_, offset);
    ++n_tensors_;
    return *this;
  }

  Bytes bytes() const {
    Bytes out{'G', 'G', 'U', 'F'};
    append(out, version);
    append(out, n_tensors_);
    append(out, n_entries_);
    out.insert(out.end(), entries_.begin(), entries_.end());
    out.insert(out.end(), tensors_.begin(), tensors_.end());
    out.resize((out.size() + alignment - 1) / alignment * alignment);
    out.insert(out.end(), data_.begin(), data_.end());
    return out;
  }

 private:
  uint64_t n_entries_ = 0;
  uint64_t n_tensors_ = 0;
  Bytes entries_, tensors_, data_;
};

}  // namespace plumbline::test
