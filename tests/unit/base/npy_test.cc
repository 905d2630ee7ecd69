// .npy files: a round trip, headers as NumPy writes them (NEP 1), and files that lie.
#include "core/base/npy.h"

#include <gtest/gtest.h>

namespace plumbline::test {
namespace {

std::string file_of(const std::string& dictionary, const std::string& data,
                    const std::string& version = std::string("\x01\x00", 2)) {
  const std::string header = dictionary + "\n";
  std::string file = "\x93NUMPY" + version;
  file += static_cast<char>(header.size());
  file += '\0';
  if (version[0] == '\x02') file += std::string(2, '\0');
  return file + header + data;
}

std::string dictionary(const std::string& shape) {
  return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
}

TEST(Npy, ComesBackAsItWas) {
  const std::vector<float> values = {1, -2.5f, 0, 3e38f, -0.0f, 7};
  for (const std::vector<uint64_t>& shape :
       {std::vector<uint64_t>{6}, std::vector<uint64_t>{2, 3}, std::vector<uint64_t>{1, 6, 1}}) {
    const std::string file = npy_bytes(shape, values);
    EXPECT_EQ((file.size() - 4 * values.size()) % 64, 0u);  // NEP 1: data is aligned
    const auto array = parse_npy(file);
    ASSERT_TRUE(array) << array.error().message;
    EXPECT_EQ(array->shape, shape);
    EXPECT_EQ(array->values, values);
  }
}

TEST(Npy, ReadsWhatNumPyWrites) {
  const std::string four(16, '\0');
  for (const char* shape : {"(4,)", "(2, 2)", "(4, 1)"}) {
    EXPECT_TRUE(parse_npy(file_of(dictionary(shape), four))) << shape;
    EXPECT_TRUE(parse_npy(file_of(dictionary(shape), four, std::string("\x02\x00", 2)))) << shape;
  }
  const auto single = parse_npy(file_of(dictionary("()"), std::string(4, '\0')));
  ASSERT_TRUE(single);
  EXPECT_EQ(single->values.size(), 1u);
  const auto none = parse_npy(file_of(dictionary("(0, 5)"), ""));
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->values.empty());
}

TEST(Npy, RefusesWhatIsBroken) {
  const std::string four(16, '\0');
  const std::string good = file_of(dictionary("(4,)"), four);
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_FALSE(parse_npy(good.substr(0, n))) << n << " bytes of " << good.size();
  }
  for (const char* shape :
       {"(5,)", "(4294967296, 4294967296)", "(18446744073709551615, 2)", "(18446744073709551616,)",
        "(-1,)", "(4", "4", "", "(1,1,1,1,1,1,1,1,4)"}) {
    EXPECT_FALSE(parse_npy(file_of(dictionary(shape), four))) << shape;
  }
  EXPECT_FALSE(parse_npy(file_of(dictionary("()"), "")));
  EXPECT_FALSE(
      parse_npy(file_of("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", four)));
  EXPECT_FALSE(
      parse_npy(file_of("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", four)));
  EXPECT_FALSE(parse_npy(file_of(dictionary("(4,)"), four, std::string("\x03\x00", 2))));
}

}  // namespace
}  // namespace plumbline::test
