// Oracle: the ABI's own rules, over every plugin that this build makes: one exported symbol (nm
// says), one name in file, id and manifest, and a manifest that tells the truth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/os/process.h"
#include "core/host/library.h"
#include "core/host/manifest.h"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> plugins() {
  std::ifstream list(PLUMB_PLUGIN_LIST);
  std::vector<std::string> paths;
  for (std::string line; std::getline(list, line);) {
    if (!line.empty()) paths.push_back(line);
  }
  return paths;
}

class EachPlugin : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Abi, EachPlugin, testing::ValuesIn(plugins()), [](const auto& test) {
  std::string name = fs::path(test.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST_P(EachPlugin, ExportsOneSymbol) {
  const auto listing = os::run({PLUMB_NM, "-D", "--defined-only", "--format=posix", GetParam()});
  ASSERT_TRUE(listing) << listing.error().message;
  ASSERT_TRUE(listing->succeeded()) << listing->err;
  EXPECT_THAT(listing->out, testing::StartsWith("plumb_plugin_entry T "));
  EXPECT_EQ(std::count(listing->out.begin(), listing->out.end(), '\n'), 1) << listing->out;
}

TEST_P(EachPlugin, HasTheIdOfItsFileAndAManifestThatTellsTheTruth) {
  const fs::path path = GetParam();
  const auto plugin = open_library(path.string());
  ASSERT_TRUE(plugin) << plugin.error().message;
  EXPECT_EQ(plugin->facts.id, path.stem().string());
  EXPECT_NE(plugin->facts.version, "");
  EXPECT_NE(plugin->facts.vendor, "");
  EXPECT_NE(plugin->facts.license, "");
  EXPECT_NE(plugin->facts.description, "");

  const std::string manifest =
      (path.parent_path() / path.stem()).string() + std::string(kManifestSuffix);
  if (!fs::exists(manifest)) return;  // an optional thing
  const auto facts = read_manifest(manifest);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(to_manifest(*facts), to_manifest(plugin->facts));
}

TEST_P(EachPlugin, OffersWholeTablesAndNothingForAnUnknownId) {
  const auto plugin = open_library(GetParam());
  ASSERT_TRUE(plugin) << plugin.error().message;
  EXPECT_FALSE(plugin->facts.extensions.empty());
  for (const std::string& id : plugin->facts.extensions) {
    const auto table = table_of(*plugin, *find_extension(id));
    EXPECT_TRUE(table) << table.error().message;
    const std::string longer = id + "0";
    EXPECT_EQ(plugin->table->extension({longer.data(), longer.size()}), nullptr) << longer;
    EXPECT_EQ(plugin->table->extension({longer.data(), id.size() - 1}), nullptr)
        << "a prefix of " << id;
  }
  EXPECT_EQ(plugin->table->extension({nullptr, 0}), nullptr);
}

}  // namespace
}  // namespace plumbline
