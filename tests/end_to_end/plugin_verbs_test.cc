// plugins list, inspect and doctor, and a plugin of somebody else in use. Oracle: core/doc/abi.md.
#include <gmock/gmock.h>

#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class PluginVerbs : public PlumbCommand {};

TEST_F(PluginVerbs, ListNamesEveryKind) {
  const Outcome listed = shell("$PLUMB plugins list --json");
  ASSERT_EQ(listed.exit, 0) << listed.err;
  std::string extensions;
  for (const json& plugin : json::parse(listed.out)) {
    for (const json& extension : plugin["extensions"])
      extensions += extension.get<std::string>() + " ";
  }
  for (const char* kind :
       {"plumb.kernels/1", "plumb.loader/1", "plumb.tokenizer/1", "plumb.template/1",
        "plumb.sampler/1", "plumb.model_source/1", "plumb.model_writer/1"}) {
    EXPECT_THAT(extensions, HasSubstr(kind));
  }
}

TEST_F(PluginVerbs, DoctorIsContentWithThisBuild) {
  const Outcome said = shell("$PLUMB plugins doctor");
  EXPECT_EQ(said.exit, 0) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("plumb.samplers.core"));
}

TEST_F(PluginVerbs, InspectTellsOfOne) {
  const Outcome said = shell("$PLUMB plugins inspect plumb.cpu.scalar --json");
  ASSERT_EQ(said.exit, 0) << said.err;
  EXPECT_EQ(json::parse(said.out)["id"], "plumb.cpu.scalar");
  EXPECT_EQ(shell("$PLUMB plugins inspect no.such.plugin").exit, 5);
}

TEST_F(PluginVerbs, SomebodysPluginIsAStageLikeAnyOther) {
  const std::string sample =
      "$PLUMB sample tiny-world --logits row.npy --json --set 'sampling.stages=[lowest_id]'";
  ASSERT_EQ(shell("$PLUMB logits tiny-world -p Mara -o row.npy").exit, 0);
  const Outcome by_config = shell(sample + " --set \"plugins.paths=[$BUILD/tests/minimal]\"");
  ASSERT_EQ(by_config.exit, 0) << by_config.err;
  EXPECT_EQ(json::parse(by_config.out)["id"], 0);
  const Outcome by_environment = shell("PLUMB_PLUGIN_PATH=$BUILD/tests/minimal " + sample);
  EXPECT_EQ(by_environment.out, by_config.out) << by_environment.err;
  // Without it the stage is nobody's.
  const Outcome without = shell(sample);
  EXPECT_EQ(without.exit, 5) << without.err;
  EXPECT_THAT(without.err, HasSubstr("lowest_id"));
}

TEST_F(PluginVerbs, TheReadmeShowsTheVeryPlugin) {
  EXPECT_THAT(
      read_file(PLUMB_SOURCE_DIR "/README.md"),
      HasSubstr("```c\n" + read_file(PLUMB_SOURCE_DIR "/tests/abi/minimal_plugin.c") + "```"));
}

TEST_F(PluginVerbs, WhatIsNoPluginIsRejectedWithAReason) {
  write("not_a_plugin.so", "This is a text.\n");
  const Outcome said = shell("$PLUMB plugins doctor --plugin-path not_a_plugin.so");
  EXPECT_EQ(said.exit, 5);
  EXPECT_THAT(said.out, HasSubstr("not_a_plugin.so"));
  EXPECT_EQ(shell("$PLUMB plugins inspect --plugin-path not_a_plugin.so $PWD/not_a_plugin.so").exit,
            5);
  // The others still work.
  EXPECT_EQ(shell("PLUMB_PLUGIN_PATH=$PWD $PLUMB run tiny-world -q -p Mara").exit, 0);
}

TEST_F(PluginVerbs, APluginOfAnotherVersionIsRejectedWithBothRanges) {
  const Outcome said =
      shell("$PLUMB plugins doctor --plugin-path $BUILD/tests/hostile/hostile.too_new.so");
  EXPECT_EQ(said.exit, 5);
  EXPECT_THAT(said.out, HasSubstr("ABI 7 to 9, this host 1 to 1"));
  EXPECT_THAT(said.out, HasSubstr("->"));  // and what to do
}

TEST_F(PluginVerbs, APinnedBackendThatIsNotThereIsAnError) {
  const Outcome said = shell("$PLUMB run tiny-world -p Mara --set kernels.backend=acme.fast");
  EXPECT_EQ(said.exit, 5) << said.err;
  EXPECT_THAT(said.err, HasSubstr("acme.fast"));
}

TEST_F(PluginVerbs, SchemaTellsOfEveryOpAsDataAndAsText) {
  const Outcome told = shell("$PLUMB plugins schema --json");
  ASSERT_EQ(told.exit, 0) << told.err;
  const json schema = json::parse(told.out);
  EXPECT_EQ(schema["extension"], "plumb.kernels/1");
  EXPECT_EQ(schema["ops"].size(), 13u);
  const json& matmul = schema["ops"][4];
  EXPECT_EQ(matmul["name"], "matmul");
  EXPECT_EQ(matmul["fields"][0]["shape"], "n_out,n_in");
  const Outcome text = shell("$PLUMB plugins schema");
  EXPECT_EQ(text.exit, 0);
  EXPECT_THAT(text.out, HasSubstr("kv_append"));
}

TEST_F(PluginVerbs, NewWritesAProjectOnceAndSaysWhatItCannot) {
  const std::string make = "$PLUMB plugins new --kind sampler --language c --name ";
  const Outcome made = shell(make + "acme.near --license MIT --into mine");
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("mine/src/near_top.c\n"));
  EXPECT_THAT(read_file(path("mine/CMakeLists.txt")), HasSubstr("LICENSE \"MIT\""));
  const Outcome again = shell(make + "acme.near --into mine");
  EXPECT_EQ(again.exit, 2);
  EXPECT_THAT(again.err, HasSubstr("mine: is there already"));
  EXPECT_EQ(shell(make + "Near").exit, 2);
  const Outcome nowhere = shell("$PLUMB plugins new --kind sampler --language basic --name a.b");
  EXPECT_EQ(nowhere.exit, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("kernels in c++"));
  EXPECT_THAT(files(), testing::ElementsAre("mine"));
  EXPECT_THAT(shell("$PLUMB plugins new --help").out, HasSubstr("--language rust"));
}

/// Binaries that were built once, when their version of the interface came: golden/abi/README.md.
class GoldenPlugin : public PlumbCommand {
 protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "golden/abi has libraries for x86-64";
#endif
  }
};

TEST_F(GoldenPlugin, IsTheOneThatWasBuiltThen) {
  const json provenance = json::parse(read_file(PLUMB_SOURCE_DIR "/golden/abi/v1/provenance.json"));
  ASSERT_EQ(provenance["sha256"].size(), 2u);
  for (const auto& [file, sha256] : provenance["sha256"].items()) {
    const Outcome sum = shell("sha256sum < $SOURCE/golden/abi/v1/" + file);
    EXPECT_EQ(sum.out.substr(0, 64), sha256) << file;
  }
}

TEST_F(GoldenPlugin, OfVersion1MultipliesToTheBit) {
  const Outcome same = shell(
      "$PLUMB diff tiny-world --swap kernels.matmul=acme.v1_kernels --strict "
      "--set \"plugins.paths=[$SOURCE/golden/abi/v1/acme.v1_kernels.so]\" "
      "--set kernels.threads=2 -p 'Mara lives in the old mill by the river'");
  EXPECT_EQ(same.exit, 0) << same.out << same.err;
  EXPECT_THAT(same.out, testing::StartsWith("MATCH"));
}

TEST_F(GoldenPlugin, OfVersion1Samples) {
  const std::string run = "$PLUMB run tiny-world -q -p Mara --set ";
  const Outcome near_top = shell(run +
                                 "\"plugins.paths=[$SOURCE/golden/abi/v1/acme.v1_sampler.so]\" "
                                 "--set 'sampling.stages=[near_top: {margin: 0}, cdf]'");
  EXPECT_EQ(near_top.exit, 0) << near_top.err;
  EXPECT_EQ(near_top.out, shell(run + "'sampling.stages=[greedy]'").out);
}

}  // namespace
}  // namespace plumbline::test
