// Oracle: what core/doc/runner.md says of each transform, written out for small rows.
#include "core/runner/transforms.h"

#include <gmock/gmock.h>

#include <numeric>

#include "core/config/yaml.h"

namespace plumbline::runner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Sizes kSizes = {{"n_heads", 2}, {"n_heads_kv", 1}, {"zero", 0}};

Result<Transform> made(const std::string& step, uint32_t width) {
  const auto tree = config::parse_yaml(step, "map.yaml");
  EXPECT_TRUE(tree) << step;
  return make_transform(*tree, width, kSizes);
}

/// The step on the row 0, 1, 2, ...
std::vector<float> applied(const std::string& step, uint32_t width) {
  const auto transform = made(step, width);
  EXPECT_TRUE(transform) << (transform ? "" : transform.error().message);
  if (!transform) return {};
  std::vector<float> in(width), out(transform->row_width());
  std::iota(in.begin(), in.end(), 0.0f);
  apply(*transform, in, out);
  return out;
}

std::string refused(const std::string& step, uint32_t width) {
  const auto transform = made(step, width);
  EXPECT_FALSE(transform) << step;
  if (transform) return "";
  EXPECT_EQ(transform.error().code, PLUMB_INVALID_CONFIG);
  EXPECT_THAT(transform.error().message, HasSubstr("map.yaml:"));
  return transform.error().message;
}

TEST(Runner_Transforms, MoveChannels) {
  EXPECT_THAT(applied("half_to_interleaved: {heads: n_heads}", 8),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  EXPECT_THAT(applied("half_to_interleaved: {heads: 1}", 8), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(applied("interleaved_to_half: {heads: 1}", 8), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

TEST(Runner_Transforms, AreEachOthersInverse) {
  for (const uint32_t heads : {1u, 3u, 9u}) {
    const std::string parameters = ": {heads: " + std::to_string(heads) + "}";
    const uint32_t width = heads * 64;
    const auto there = made("half_to_interleaved" + parameters, width);
    const auto back = made("interleaved_to_half" + parameters, width);
    std::vector<float> in(width), middle(width), out(width);
    std::iota(in.begin(), in.end(), 0.0f);
    apply(*there, in, middle);
    EXPECT_NE(middle, in);
    apply(*back, middle, out);
    EXPECT_EQ(out, in);
  }
}

TEST(Runner_Transforms, ChangeValues) {
  EXPECT_THAT(applied("scale: {by: 0.5}", 3), ElementsAre(0, 0.5, 1));
  EXPECT_THAT(applied("offset: {by: 1}", 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(applied("offset: {by: -1e2}", 2), ElementsAre(-100, -99));
}

TEST(Runner_Transforms, CutFusedRows) {
  const std::string qkv = "split: {widths: [n_heads, n_heads_kv, 1], take: ";
  EXPECT_THAT(applied(qkv + "0}", 8), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(applied(qkv + "1}", 8), ElementsAre(4, 5));
  EXPECT_THAT(applied(qkv + "2}", 8), ElementsAre(6, 7));
  EXPECT_THAT(applied("split: {widths: [1, 1], take: 1}", 6), ElementsAre(3, 4, 5));
  EXPECT_THAT(applied("split: {widths: [1, 1], take: 1, groups: 2}", 8), ElementsAre(2, 3, 6, 7))
      << "fused head by head";
}

TEST(Runner_Transforms, MistakesAreNamed) {
  EXPECT_THAT(refused("half_to_interleave: {heads: 1}", 8),
              HasSubstr("did you mean \"half_to_interleaved\"?"));
  EXPECT_THAT(refused("half_to_interleaved", 8), HasSubstr("no heads"));
  EXPECT_THAT(refused("half_to_interleaved: {heads: n_head}", 8),
              HasSubstr("did you mean \"n_heads\"?"));
  EXPECT_THAT(refused("half_to_interleaved: {heads: 0}", 8), HasSubstr("a positive integer"));
  EXPECT_THAT(refused("half_to_interleaved: {heads: zero}", 8), HasSubstr("a positive integer"));
  EXPECT_THAT(refused("half_to_interleaved: {heads: 99999999999}", 8), HasSubstr("positive"));
  EXPECT_THAT(refused("half_to_interleaved: {heads: 3}", 8), HasSubstr("a multiple of 3 x 2"));
  EXPECT_THAT(refused("half_to_interleaved: {heads: 1, head: 2}", 8),
              HasSubstr("unknown parameter \"head\""));
  EXPECT_THAT(refused("scale", 3), HasSubstr("by: missing"));
  EXPECT_THAT(refused("scale: {by: .inf}", 3), HasSubstr("a finite number"));
  EXPECT_THAT(refused("scale: {by: 1e99}", 3), HasSubstr("a finite number"));
  EXPECT_THAT(refused("scale: {by: [1]}", 3), HasSubstr("a finite number"));
  EXPECT_THAT(refused("split: {widths: [1, 1], take: 2}", 6), HasSubstr("one of 2 parts"));
  EXPECT_THAT(refused("split: {widths: [], take: 0}", 6), HasSubstr("a list of 1 to 64"));
  EXPECT_THAT(refused("split: {widths: [1, 3], take: 0}", 6), HasSubstr("a multiple of 1 x 4"));
  EXPECT_THAT(refused("split: {widths: [16777215, 16777215], take: 0, groups: 16777215}", 6),
              HasSubstr("a multiple of 16777215 x 33554430"));
}

}  // namespace
}  // namespace plumbline::runner
