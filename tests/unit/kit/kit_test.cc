// Oracle: the rules of core/kit's headers, and the templates as they lie in this tree. Whether the
// projects build and pass is tests/kit's to show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/kit/new_project.h"
#include "core/kit/template_files.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::kit {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

const KitPlaces kPlaces = {.kit = PLUMB_SOURCE_DIR "/core/kit",
                           .rust_sdk = "/opt/plumb/rust",
                           .python_sdk = "/opt/plumb/python",
                           .version = "0.1.0"};

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(Kit_Fill, ReplacesNamesAndLeavesOtherSigns) {
  const Values values = {{"ID", "acme.fast"}, {"OF_ID", "the @ID@"}};
  EXPECT_EQ(fill("@ID@ a@b @OF_ID@ @v4 @@ @", values).value(),
            "acme.fast a@b the acme.fast @v4 @@ @");
  const auto unknown = fill("@NOBODY@", values);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, PLUMB_CORRUPT);
  EXPECT_THAT(unknown.error().message, HasSubstr("@NOBODY@"));
}

TEST(Kit_Fill, LayersAddUpAndMayNotOverlap) {
  const test::TemporaryFolder folder;
  const fs::path root = folder.path("");
  write_text(root / "a/README.md", "@ID@: @TOLD@");
  write_text(root / "b/src/x.c", "int x;\n");
  write_text(root / "b/_TOLD.md", "of @ID@");
  const std::vector<std::string> layers = {(root / "a").string(), (root / "b").string()};
  const auto files = fill_templates(layers, {{"ID", "n"}});
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[0].name, "README.md");
  EXPECT_EQ((*files)[0].text, "n: of n");
  EXPECT_EQ((*files)[1].name, "src/x.c");
  write_text(root / "b/README.md", "again");
  EXPECT_EQ(fill_templates(layers, {{"ID", "n"}}).error().code, PLUMB_CORRUPT);
  EXPECT_EQ(fill_templates({(root / "none").string()}, {}).error().code, PLUMB_NOT_FOUND);
}

TEST(Kit_Project, EveryOfferHasWhatAProjectNeeds) {
  const test::TemporaryFolder folder;
  const std::vector<Offer> all = offers(kPlaces);
  EXPECT_GE(all.size(), 5u);
  for (const Offer& offer : all) {
    const std::string what = std::string(offer.kind) + "-" + std::string(offer.language);
    const std::string into = folder.path(what);
    const auto files = new_project(kPlaces, {.kind = std::string(offer.kind),
                                             .language = std::string(offer.language),
                                             .id = "acme.fast_one",
                                             .license = "MIT OR Apache-2.0",
                                             .folder = into});
    ASSERT_TRUE(files) << what << ": " << files.error().message;
    for (const char* needed : {"README.md", "check.sh", "test.sh", ".github/workflows/ci.yml"})
      EXPECT_THAT(*files, Contains(needed)) << what;
    EXPECT_THAT(read_text(into + "/README.md"), HasSubstr("MIT OR Apache-2.0")) << what;
    for (const char* program : {"/check.sh", "/test.sh"}) {
      EXPECT_NE(fs::status(into + program).permissions() & fs::perms::owner_exec, fs::perms::none)
          << what << program;
    }
    for (const std::string& file : *files) EXPECT_TRUE(fs::exists(into + "/" + file)) << file;
  }
}

TEST(Kit_Project, AFolderInUseIsLeftAsItWas) {
  const test::TemporaryFolder folder;
  const std::string into = folder.path("mine");
  write_text(into + "/kept.txt", "kept");
  const auto made =
      new_project(kPlaces, {.kind = "kernels", .language = "c", .id = "acme.fast", .folder = into});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("there already"));
  EXPECT_EQ(read_text(into + "/kept.txt"), "kept");
  EXPECT_THAT(folder.files(), testing::ElementsAre("mine"));
}

TEST(Kit_Project, NamesThatNoPluginMayHaveAreRefused) {
  const test::TemporaryFolder folder;
  const auto code_of = [&](const std::string& id, const std::string& license) {
    const auto made = new_project(kPlaces, {.kind = "kernels",
                                            .language = "c",
                                            .id = id,
                                            .license = license,
                                            .folder = folder.path("x")});
    return made ? PLUMB_OK : made.error().code;
  };
  for (const char* id : {"", "fast", "Acme.fast", "acme.", ".fast", "acme..fast", "acme/fast.x",
                         "acme.fa\"st", "acme.1fast", "plumb.fast", "acme.fast\n"}) {
    EXPECT_EQ(code_of(id, "MIT"), PLUMB_INVALID_ARGUMENT) << id;
  }
  EXPECT_EQ(code_of("acme." + std::string(100, 'a'), "MIT"), PLUMB_INVALID_ARGUMENT);
  for (const char* license : {"", "MIT\"", "a;b", "$X", "a\nb"})
    EXPECT_EQ(code_of("acme.fast", license), PLUMB_INVALID_ARGUMENT) << license;
  EXPECT_THAT(folder.files(), testing::IsEmpty());
}

TEST(Kit_Project, WhatThereIsNoTemplateForNamesThoseThereAre) {
  const auto made = new_project(
      kPlaces, {.kind = "kernels", .language = "cobol", .id = "acme.fast", .folder = "x"});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("no template for kernels in cobol"));
  EXPECT_THAT(made.error().message, HasSubstr("kernels in rust"));
}

}  // namespace
}  // namespace plumbline::kit
