// Oracles: core/abi/plumb/ext/kernels.h, golden/abi/layout.txt (the layout that was released, as C
// sees it), and what the backends say that they run.
#include "plumb/sdk/kernels/op_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace plumbline {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// NAME -> number of each "#define PREFIX_NAME number", in lower case.
std::map<std::string, uint32_t> defines(const std::string& prefix) {
  static const std::string header = read_text(PLUMB_SOURCE_DIR "/core/abi/plumb/ext/kernels.h");
  const std::regex line("#define " + prefix + R"(_(\w+) (\d+)\b)");
  std::map<std::string, uint32_t> found;
  for (std::sregex_iterator match(header.begin(), header.end(), line), end; match != end; ++match) {
    std::string name = (*match)[1];
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    found[name] = static_cast<uint32_t>(std::stoul((*match)[2]));
  }
  return found;
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
  const std::regex word(R"([A-Za-z_]\w*)");
  for (const OpSchema& op : kOpSchemas) {
    for (const OpField& field : op.fields) {
      EXPECT_THAT((std::set<std::string_view>{"in", "out", "weight", "kv", "parameter"}),
                  testing::Contains(field.role));
      const std::string shape(field.shape);
      for (std::sregex_iterator match(shape.begin(), shape.end(), word), end; match != end;
           ++match) {
        const std::string name = match->str();
        const bool is_letter = name.size() == 1 || name == "ceil";
        const bool is_field = std::ranges::any_of(
            op.fields, [&](const OpField& other) { return other.name == name; });
        EXPECT_TRUE(is_letter || is_field) << op.name << "." << field.name << ": " << name;
      }
    }
  }
}

/// The names in a backend's table, "embed", in the order of PLUMB_OP_*.
TEST(OpSchema, TheBackendsTablesHaveTheSameNames) {
  const std::regex row(R"re(\{(PLUMB_OP_\w+), "(\w+)")re");
  for (const char* path :
       {"/backends/cpu/execute.cc", "/backends/reference/reference_execute.cc"}) {
    const std::string text = read_text(std::string(PLUMB_SOURCE_DIR) + path);
    std::map<std::string, uint32_t> theirs;
    for (std::sregex_iterator match(text.begin(), text.end(), row), end; match != end; ++match) {
      std::string constant = (*match)[1].str().substr(9);
      for (char& c : constant) c = static_cast<char>(std::tolower(c));
      EXPECT_EQ(constant, (*match)[2].str()) << path;
      theirs[(*match)[2]] = defines("PLUMB_OP")[constant];
    }
    std::map<std::string, uint32_t> ours;
    for (const OpSchema& op : kOpSchemas) ours[op.name] = op.kind;
    EXPECT_EQ(theirs, ours) << path;
  }
}

}  // namespace
}  // namespace plumbline
