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
  ASSERT_EQ(recipes->size(), 10u);
  std::set<std::string> hashes;
  for (const ModelRecipe& recipe : *recipes) {
    EXPECT_TRUE(hashes.insert(recipe.sha256).second) << recipe.name;
    for (const ModelPart& part : recipe.parts) {
      EXPECT_EQ(part.client == "npm", recipe.name.starts_with("tokenizer-")) << part.client;
      EXPECT_TRUE(hashes.insert(part.sha256).second) << part.package << ": a hash of another file";
    }
    for (const BesideFile& file : recipe.beside)
      EXPECT_TRUE(hashes.insert(file.sha256).second) << recipe.name << file.file;
    if (!recipe.beside.empty()) continue;
    // Archives of weights compress by a few percent only, and not below half.
    EXPECT_LT(recipe.package_bytes(), recipe.bytes);
    EXPECT_GT(recipe.package_bytes(), recipe.bytes / 2);
  }
}

TEST(Sources_Packages, NamesEndWithAnEmptyView) {
  EXPECT_EQ(source_table().model_at(10).bytes, 0u);
  EXPECT_EQ(source_table().model_at(UINT32_MAX).bytes, 0u);
}

TEST(Sources_Packages, UnknownModelListsTheOnesThereAre) {
  const auto recipe = find_recipe(source_table(), "smollm");
  ASSERT_FALSE(recipe.has_value());
  EXPECT_EQ(recipe.error().code, PLUMB_NOT_FOUND);
  EXPECT_EQ(recipe.error().message,
            "model \"smollm\", expected one of smollm2-135m, gemma3-270m, qwen2.5-coder-0.5b, "
            "tokenizer-qwen3, tokenizer-llama3_1, tokenizer-gemma3, tokenizer-gpt4o, "
            "tokenizer-gptoss, tokenizer-llama2, tokenizer-deepseek_v3");
}

}  // namespace
}  // namespace plumbline::sources::packages
