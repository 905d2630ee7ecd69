#include "core/base/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace plumbline {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kAlignment = 64;
static_assert(std::endian::native == std::endian::little);

Error bad(const std::string& what) {
  return {PLUMB_CORRUPT, "npy: " + what};
}

// The text behind 'key': in the header's Python dictionary.
std::string_view value_of(std::string_view header, std::string_view key) {
  const size_t at = header.find("'" + std::string(key) + "':");
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

Result<std::vector<uint64_t>> parse_shape(std::string_view text) {
  if (!text.starts_with('(')) return bad("shape: expected a tuple");
  text.remove_prefix(1);
  std::vector<uint64_t> shape;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.starts_with(')')) return shape;
    uint64_t dim = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (code != std::errc() || shape.size() == 8)
      return bad("shape: expected at most 8 whole numbers");
    shape.push_back(dim);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
}

}  // namespace

std::string npy_header(std::span<const uint64_t> shape) {
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (const uint64_t dim : shape) dict += std::to_string(dim) + ",";
  dict += "), }";
  const size_t fixed = kMagic.size() + 4;
  dict.append((kAlignment - (fixed + dict.size() + 1) % kAlignment) % kAlignment, ' ');
  dict += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

std::string npy_bytes(std::span<const uint64_t> shape, std::span<const float> values) {
  std::string file = npy_header(shape);
  file.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return file;
}

Result<NpyArray> parse_npy(std::string_view file) {
  if (!file.starts_with(kMagic) || file.size() < 10)
    return bad("no NumPy file: the magic bytes are missing");
  const auto byte = [&](size_t at) {
    return static_cast<size_t>(static_cast<unsigned char>(file[at]));
  };
  const size_t version = byte(6);
  if (version < 1 || version > 2 || (version == 2 && file.size() < 12)) {
    return bad("version " + std::to_string(version) + " is not supported, expected 1 or 2");
  }
  const size_t start = version == 1 ? 10 : 12;
  const size_t length =
      byte(8) | byte(9) << 8 | (version == 2 ? byte(10) << 16 | byte(11) << 24 : 0);
  if (length > file.size() - start) return bad("the header is longer than the file");
  const std::string_view header = file.substr(start, length);
  if (!value_of(header, "descr").starts_with("'<f4'")) return bad("expected values of type '<f4'");
  if (!value_of(header, "fortran_order").starts_with("False"))
    return bad("expected row-major order");
  NpyArray array;
  PLUMB_ASSIGN(array.shape, parse_shape(value_of(header, "shape")));
  const uint64_t present = (file.size() - start - length) / 4;
  // No dim at all is one value.
  uint64_t n = 1;
  for (const uint64_t dim : array.shape) {
    if (dim != 0 && n > UINT64_MAX / dim) return bad("the shape's product is beyond 64 bits");
    n *= dim;
  }
  if (n > present) return bad("the file holds fewer values than its shape asks for");
  array.values.resize(n);
  std::memcpy(array.values.data(), file.data() + start + length, 4 * n);
  return array;
}

}  // namespace plumbline
