// Maps with mistakes. Oracle: core/doc/runner.md, and the nearest names that a person would think
// of.
#include "core/runner/op_map.h"

#include <gmock/gmock.h>

#include "tests/support/temporary_folder.h"

namespace plumbline::runner {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Runner_OpMap : public testing::Test {
 protected:
  Result<std::vector<MappedOp>> read(const std::string& regions, const std::string& head =
                                                                     "plumb_map: 1\n"
                                                                     "architecture: fake\n") {
    return read_op_map(folder_.write("map.yaml", head + "regions:\n" + regions), model_);
  }
  std::string refused(const std::string& regions) {
    const auto map = read(regions);
    EXPECT_FALSE(map) << regions;
    if (map) return "";
    EXPECT_EQ(map.error().code, PLUMB_INVALID_CONFIG);
    EXPECT_THAT(map.error().message, HasSubstr("map.yaml:"));
    return map.error().message;
  }

  MappedModel model_{.architecture = "fake",
                     .n_layers = 2,
                     .sizes = {{"n_heads", 2}},
                     .taps = {{"embed", 4}, {"layers.0.q", 8}, {"layers.1.q", 8}}};
  test::TemporaryFolder folder_;
};

TEST_F(Runner_OpMap, OneRegionIsOneOpOfEachLayer) {
  const auto map =
      read("  - {ours: attn_q, theirs: 'layers.{L}.q'}\n  - {ours: embed, theirs: embed}\n");
  ASSERT_TRUE(map) << map.error().message;
  ASSERT_EQ(map->size(), 3u);
  EXPECT_EQ((*map)[1].name, "1.attn_q");
  EXPECT_EQ((*map)[1].parts[0].tap, "layers.1.q");
  EXPECT_EQ((*map)[1].width, 8u);
  EXPECT_EQ((*map)[2].name, "embed");
}

TEST_F(Runner_OpMap, MistakesAreNamed) {
  EXPECT_THAT(refused("  - {ours: attn_q, theirs: 'layers.{L}.p'}\n"),
              AllOf(HasSubstr("map.yaml:4:28: the runner offers no tap \"layers.0.p\""),
                    HasSubstr("did you mean \"layers.0.q\"?")));
  EXPECT_THAT(refused("  - {ours: embed, theirs: embed}\n  - {ours: embed, theirs: embed}\n"),
              HasSubstr("mapped twice"));
  EXPECT_THAT(refused("  - {ours: embed}\n"), HasSubstr("expected either theirs or parts"));
  EXPECT_THAT(refused("  - {ours: embed, theirs: embed, parts: [{tap: embed}]}\n"),
              HasSubstr("expected either theirs or parts"));
  EXPECT_THAT(refused("  - {ours: embed, parts: [{tap: embed}], transform: [scale: {by: 1}]}\n"),
              HasSubstr("beside parts"));
  EXPECT_THAT(refused("  - {ours: embed, theirs: embed, transform: [scale: {bye: 1}]}\n"),
              HasSubstr("unknown parameter \"bye\""));
  EXPECT_THAT(refused("  - {our: embed, theirs: embed}\n"), HasSubstr("did you mean \"ours\"?"));
  EXPECT_THAT(refused("  - embed\n"), HasSubstr("expected a map with ours, theirs"));
  EXPECT_THAT(read("  - {ours: embed, theirs: embed}\n", "plumb_map: 1\narchitecture: llama\n")
                  .error()
                  .message,
              HasSubstr("a map for \"llama\", but the model is fake"));
  EXPECT_THAT(read("  - {ours: embed, theirs: embed}\n", "architecture: fake\n").error().message,
              HasSubstr("no plumb_map"));
  EXPECT_EQ(read_op_map(folder_.path("none.yaml"), model_).error().code, PLUMB_NOT_FOUND);
}

}  // namespace
}  // namespace plumbline::runner
