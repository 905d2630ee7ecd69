// npy.h: the values of a one-type .npy file of golden/, flat. Source: NEP 1, "A Simple File Format
// for NumPy Arrays".
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "golden_cases.h"

namespace plumbline::test {

template <typename T>
std::vector<T> npy_values(const std::string& path) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  const std::vector<uint8_t> file = read_file(path);
  constexpr size_t kPreambleBytes = 10;  // magic, version 1.0, u16 header bytes
  if (file.size() < kPreambleBytes || file[6] != 1) {
    ADD_FAILURE() << path << ": not a .npy file of version 1";
    return {};
  }
  const size_t data_at = kPreambleBytes + file[8] + 256u * file[9];
  const std::string header(file.begin() + kPreambleBytes,
                           file.begin() + static_cast<int64_t>(std::min(data_at, file.size())));
  const char* type = sizeof(T) == 4 ? "'<f4'" : "'<f8'";
  EXPECT_NE(header.find(type), std::string::npos)
      << path << ": expected " << type << " in " << header;
  EXPECT_NE(header.find("'fortran_order': False"), std::string::npos) << path;
  std::vector<T> values((file.size() - std::min(data_at, file.size())) / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), file.data() + data_at, values.size() * sizeof(T));
  return values;
}

}  // namespace plumbline::test
