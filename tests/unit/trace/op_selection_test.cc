// Which ops a pattern meets. Oracle: fnmatch of the C library, whose * and ? are ours.
#include "core/trace/op_selection.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "plumb/ext/kernels.h"

namespace plumbline::test {
namespace {

using trace::matches;
using trace::OpSelection;
using trace::select_ops;

TEST(OpPattern, MatchesAsFnmatch) {
  std::mt19937 random(1);
  const auto word = [&](const char* letters, size_t n) {
    std::string text;
    for (size_t i = random() % n; i > 0; --i) text += letters[random() % std::strlen(letters)];
    return text;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string pattern = word("ab*?.", 8), text = word("ab.", 10);
    EXPECT_EQ(matches(pattern, text), fnmatch(pattern.c_str(), text.c_str(), 0) == 0)
        << pattern << " " << text;
  }
}

TEST(OpPattern, TakesNoLongerForManyStars) {
  std::string pattern;
  for (int i = 0; i < 5000; ++i) pattern += "*a";
  EXPECT_FALSE(matches(pattern, std::string(4000, 'a') + "b"));
}

class Selection : public testing::Test {
 protected:
  Selection() {
    for (int32_t layer = 0; layer < 3; ++layer) {
      const std::string at = std::to_string(layer) + ".";
      infos_.push_back({.name = at + "attn_q", .layer = layer, .kind = PLUMB_OP_MATMUL});
      infos_.push_back({.name = at + "attn_q.q8", .layer = layer, .kind = PLUMB_OP_QUANTIZE});
      infos_.push_back({.name = at + "ffn_up", .layer = layer, .kind = PLUMB_OP_MATMUL});
    }
    infos_.push_back({.name = "output", .kind = PLUMB_OP_MATMUL});
    for (const model::OpInfo& info : infos_) ops_.push_back(&info);
  }
  std::vector<std::string> names(std::vector<std::string> patterns,
                                 std::vector<OpSelection::Layers> layers = {}) const {
    const auto selected = select_ops(ops_, {std::move(patterns), std::move(layers)});
    std::vector<std::string> found;
    if (!selected) return {"error: " + selected.error().message};
    for (const model::OpInfo* op : *selected) found.push_back(op->name);
    return found;
  }

  std::vector<model::OpInfo> infos_;
  std::vector<const model::OpInfo*> ops_;
};

using Names = std::vector<std::string>;

TEST_F(Selection, IsInOrderAndWithoutWhatCannotBeRead) {
  EXPECT_EQ(names({}).size(), 7u);
  EXPECT_EQ(names({"output", "1.*"}), (Names{"1.attn_q", "1.ffn_up", "output"}));
  EXPECT_EQ(names({"ffn_up"}, {{1, 2}}), (Names{"1.ffn_up", "2.ffn_up"}));
  EXPECT_EQ(names({}, {{2, 2}}), (Names{"2.attn_q", "2.ffn_up"}));
}

TEST_F(Selection, NamesTheNearest) {
  EXPECT_NE(names({"1.ffn_upp"})[0].find("did you mean \"1.ffn_up\"?"), std::string::npos);
  EXPECT_NE(names({"*.atn_q"})[0].find("did you mean \"attn_q\"?"), std::string::npos);
  EXPECT_NE(names({"*.q8"})[0].find("no op matches \"*.q8\""), std::string::npos);
  EXPECT_NE(names({}, {{3, 9}})[0].find("layers 0 to 2"), std::string::npos);
  EXPECT_NE(names({"output"}, {{0, 1}})[0].find("both"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::test
