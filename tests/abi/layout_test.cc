// Oracle: golden/abi/layout.txt, the layout that was released, and the headers' own text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/os/process.h"
#include "plumb/plumb.h"

namespace plumbline {
namespace {

struct Field {
  std::string name;
  size_t offset;
  size_t size;
  size_t align;
};

struct Struct {
  std::string name;
  size_t size;
  size_t align;
  std::vector<Field> fields;
};

std::vector<Struct> listed() {
  std::vector<Struct> all;
#define STRUCT(type) all.push_back({#type, sizeof(type), alignof(type), {}});
#define FIELD(type, field)                                                                         \
  all.back().fields.push_back({#field, offsetof(type, field), sizeof(std::declval<type&>().field), \
                               alignof(decltype(std::declval<type&>().field))});
#include "tests/abi/layout_list.h"
#undef STRUCT
#undef FIELD
  return all;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

TEST(Abi_Layout, IsTheGoldenOne) {
  if (sizeof(void*) != 8) GTEST_SKIP() << "golden/abi/layout.txt is of 64-bit targets";
  const auto printed = os::run({PLUMB_LAYOUT_PROGRAM});
  ASSERT_TRUE(printed) << printed.error().message;
  ASSERT_TRUE(printed->succeeded()) << printed->describe();
  EXPECT_EQ(printed->out, read_text(PLUMB_SOURCE_DIR "/golden/abi/layout.txt"))
      << "a struct changed: golden/abi/README.md says what is allowed";
}

TEST(Abi_Layout, NoStructIsMissingFromTheList) {
  std::set<std::string> in_headers;
  const std::regex end_of_struct(R"(\n\} (plumb_\w+);)");
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(PLUMB_SOURCE_DIR "/core/abi/plumb")) {
    if (!entry.is_regular_file()) continue;
    const std::string text = read_text(entry.path());
    for (std::sregex_iterator match(text.begin(), text.end(), end_of_struct), end; match != end;
         ++match) {
      in_headers.insert((*match)[1]);
    }
  }
  std::set<std::string> in_list;
  for (const Struct& item : listed()) in_list.insert(item.name);
  EXPECT_EQ(in_headers, in_list);
}

/// Each field begins where the one before it ends, but for the padding that its alignment asks for.
TEST(Abi_Layout, NoFieldIsMissingFromTheList) {
  for (const Struct& item : listed()) {
    size_t end = 0;
    for (const Field& field : item.fields) {
      if (field.name.find('.') != std::string::npos) continue;  // a union's member
      EXPECT_EQ(field.offset, round_up(end, field.align)) << item.name << "." << field.name;
      end = field.offset + field.size;
    }
    EXPECT_EQ(item.size, round_up(end, item.align)) << item.name;
  }
}

/// Frozen value types, and what lies in arrays or in plumb_op, have no struct_bytes; all others
/// start with it.
TEST(Abi_Layout, EveryStructThatMayGrowStartsWithItsSize) {
  for (const Struct& item : listed()) {
    const bool is_value = item.name == "plumb_str" || item.name == "plumb_bytes" ||
                          item.name == "plumb_slice" || item.name == "plumb_span" ||
                          item.name.starts_with("plumb_block_") ||
                          (item.name.starts_with("plumb_op_") && item.name != "plumb_op_query");
    const bool starts_with_size = item.fields[0].name == "struct_bytes" && item.fields[0].size == 4;
    EXPECT_EQ(starts_with_size, !is_value) << item.name;
  }
}

}  // namespace
}  // namespace plumbline
