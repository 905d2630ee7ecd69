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

TEST(Host_Recipe, FilesBesideTheModelAreRead) {
  Json json = good();
  json["parts"][0]["client"] = "npm";
  json["parts"][0]["package"] = "@scope/name";
  json["beside"] = {{{"file", "c.json"},
                     {"bytes", 3},
                     {"sha256", std::string(64, 'c')},
                     {"member", "package/c.json"}}};
  const auto recipe = parse_recipe(json.dump());
  ASSERT_TRUE(recipe.has_value()) << recipe.error().message;
  EXPECT_EQ(recipe->parts[0].package, "@scope/name");
  ASSERT_EQ(recipe->beside.size(), 1u);
  EXPECT_EQ(recipe->beside[0].member, "package/c.json");
  EXPECT_EQ(recipe->file_bytes(), 8u);
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
  EXPECT_EQ(with("parts", Json::array()), "recipe.parts: expected a list of 1 to 1024 entries");
  EXPECT_EQ(with("parts", {1}), "recipe m.parts[0].client: expected a text");
  Json part = good()["parts"][0];
  part["package"] = "--index-url=elsewhere";
  EXPECT_EQ(with("parts", {part}), "recipe m.parts[0].package: expected a package's name");
  for (const char* name : {"@a", "@a/", "@/b", "@a/b/c", "@a/../b", "a/b", "@-a/b"}) {
    part["package"] = name;
    EXPECT_EQ(with("parts", {part}), "recipe m.parts[0].package: expected a package's name")
        << name;
  }
  const Json file{
      {"file", "c.json"}, {"bytes", 1}, {"sha256", std::string(64, 'c')}, {"member", "p/c.json"}};
  const auto with_file = [&](const char* key, Json value) {
    Json other = file;
    other[key] = std::move(value);
    return with("beside", {other});
  };
  EXPECT_EQ(with("beside", 3), "recipe.beside: expected a list of 0 to 64 entries");
  EXPECT_EQ(with_file("file", "../c"), "recipe m.beside[0].file: expected a plain name");
  EXPECT_EQ(with_file("file", "m.gguf"), "recipe m.beside[0].file: expected a name of its own");
  EXPECT_EQ(with_file("member", ""),
            "recipe m.beside[0].member: expected the path of a file in the package");
  EXPECT_EQ(with("beside", {file, file}), "recipe m.beside[1].file: expected a name of its own");
}

}  // namespace
}  // namespace plumbline
