// Oracles: core/abi/plumb/ext/kernels.h, golden/abi/layout.txt (the layout that was released, as C
// sees it), and what the backends say that they run.
#include "plumb/sdk/kernels/op_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace plumbline {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(c));
  return text;
}

/// "name" -> number of each "#define PREFIX_NAME number".
std::map<std::string, uint32_t> defines(const std::string& prefix) {
  std::ifstream header(PLUMB_SOURCE_DIR "/core/abi/plumb/ext/kernels.h");
  std::map<std::string, uint32_t> found;
  for (std::string line; std::getline(header, line);) {
    std::istringstream words(line);
    std::string define, name;
    uint32_t number = 0;
    if (words >> define >> name >> number && define == "#define" && name.starts_with(prefix + "_"))
      found[lower(name.substr(prefix.size() + 1))] = number;
  }
  return found;
}

/// The names in a text: runs of letters, digits and underscores that begin with no digit.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) == 0)
      names.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
    } else {
      end_word();
    }
  }
  end_word();
  return names;
}

TEST(OpSchema, HasEveryOpOfTheHeaderUnderItsName) {
  std::map<std::string, uint32_t> ours;
  for (const OpSchema& op : kOpSchemas) ours[op.name] = op.kind;
  EXPECT_EQ(ours, defines("PLUMB_OP"));
  EXPECT_EQ(find_op_schema(0), nullptr);
}

TEST(OpSchema, HasEveryVariantOfTheHeader) {
  const std::map<uint32_t, const char*> prefixes = {{PLUMB_OP_ROPE, "PLUMB_ROPE"},
                                                    {PLUMB_OP_ATTEND, "PLUMB_MASK"},
                                                    {PLUMB_OP_ACTIVATE, "PLUMB_ACT"}};
  for (const OpSchema& op : kOpSchemas) {
    std::map<std::string, uint32_t> ours;
    for (const OpVariant& variant : op.variants) ours[std::string(variant.name)] = variant.value;
    const auto prefix = prefixes.find(op.kind);
    EXPECT_EQ(ours, prefix == prefixes.end() ? decltype(ours)() : defines(prefix->second))
        << op.name;
  }
}

TEST(OpSchema, HasEveryFieldOfTheRecordWhereCHasIt) {
  using Fields = std::vector<std::tuple<std::string, uint32_t, uint32_t>>;
  std::map<std::string, Fields> golden;
  std::ifstream file(PLUMB_SOURCE_DIR "/golden/abi/layout.txt");
  std::string record;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    uint32_t offset = 0, bytes = 0;
    words >> name >> offset >> bytes;
    if (line.front() != ' ') {
      record = name;
    } else if (name != "reserved") {
      golden[record].emplace_back(name, offset, bytes);
    }
  }
  for (const OpSchema& op : kOpSchemas) {
    Fields ours;
    for (const OpField& field : op.fields)
      ours.emplace_back(std::string(field.name), field.offset, field.bytes);
    EXPECT_EQ(ours, golden["plumb_op_" + std::string(op.record)]) << op.name;
  }
}

TEST(OpSchema, EveryLetterOfAShapeIsAFieldOrAShapeLetter) {
  for (const OpSchema& op : kOpSchemas) {
    for (const OpField& field : op.fields) {
      EXPECT_THAT((std::set<std::string_view>{"in", "out", "weight", "kv", "parameter"}),
                  testing::Contains(field.role));
      for (const std::string& name : names_in(field.shape)) {
        const bool is_letter = name.size() == 1 || name == "ceil";
        const bool is_field = std::ranges::any_of(
            op.fields, [&](const OpField& other) { return other.name == name; });
        EXPECT_TRUE(is_letter || is_field) << op.name << "." << field.name << ": " << name;
      }
    }
  }
}

/// A row of a backend's table: {PLUMB_OP_EMBED, "embed", ...}.
TEST(OpSchema, TheBackendsTablesHaveTheSameNames) {
  const std::map<std::string, uint32_t> kinds = defines("PLUMB_OP");
  for (const char* path :
       {"/backends/cpu/execute.cc", "/backends/reference/reference_execute.cc"}) {
    std::ifstream file(std::string(PLUMB_SOURCE_DIR) + path);
    std::map<std::string, uint32_t> theirs;
    for (std::string line; std::getline(file, line);) {
      constexpr std::string_view kRow = "{PLUMB_OP_";
      const size_t at = line.find(kRow);
      if (at == line.npos) continue;
      const std::vector<std::string> names = names_in(line.substr(at));
      ASSERT_GE(names.size(), 2u) << line;
      EXPECT_EQ(lower(names[0].substr(kRow.size() - 1)), names[1]) << path;
      const auto kind = kinds.find(names[1]);
      ASSERT_NE(kind, kinds.end()) << line;
      theirs[names[1]] = kind->second;
    }
    EXPECT_EQ(theirs, kinds) << path;
  }
}

}  // namespace
}  // namespace plumbline
