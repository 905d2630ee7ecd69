// Oracle: the order of discovery and the rules of choice in core/doc/abi.md.
#include "core/host/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "plumb/sdk/abi.h"
#include "tests/abi/plugin_folder.h"

namespace plumbline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// healthy has rank 7, flush_to_zero rank 3, probe_refuses cannot run.
class Choosing : public testing::Test {
 protected:
  Choosing() {
    for (const char* kind : {"flush_to_zero", "healthy", "probe_refuses"})
      folder_.add_with_manifest(kind);
    auto host = Host::create(folder_.options());
    if (host) host_.emplace(*std::move(host));
  }
  void SetUp() override { ASSERT_TRUE(host_); }

  PluginFolder folder_;
  std::optional<Host> host_;
};

TEST_F(Choosing, TheHighestRankWins) {
  const auto found = host_->find<plumb_sampler>();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->id, "hostile.healthy");
  EXPECT_NE(found->table->apply, nullptr);
  EXPECT_NE(found->host, nullptr);
}

TEST_F(Choosing, ThePolicyBeatsTheRankAndThePinBeatsThePolicy) {
  const std::vector<std::string> prefer = {"acme.absent", "hostile.probe_refuses",
                                           "hostile.flush_to_zero"};
  const auto preferred = host_->find<plumb_sampler>({.prefer = prefer});
  ASSERT_TRUE(preferred) << preferred.error().message;
  EXPECT_EQ(preferred->id, "hostile.flush_to_zero");
  const auto pinned = host_->find<plumb_sampler>({.pin = "hostile.healthy", .prefer = prefer});
  ASSERT_TRUE(pinned) << pinned.error().message;
  EXPECT_EQ(pinned->id, "hostile.healthy");
}

TEST_F(Choosing, EveryLoserIsToldWhy) {
  const auto reasons = [&](const Choice& choice) {
    std::vector<std::string> all;
    for (const Candidate& candidate : host_->candidates(PLUMB_EXT_SAMPLER, choice)) {
      all.push_back(candidate.id + ": " + candidate.reason);
    }
    return all;
  };
  const auto refused = HasSubstr("it cannot run here: needs a processor of 2040");
  EXPECT_THAT(reasons({}),
              ElementsAre("hostile.healthy: chosen: rank 7 is the highest",
                          "hostile.flush_to_zero: rank 3, hostile.healthy has 7", refused));
  EXPECT_THAT(reasons({.prefer = {"hostile.flush_to_zero"}}),
              ElementsAre("hostile.flush_to_zero: chosen: preferred by the policy",
                          "hostile.healthy: the policy prefers hostile.flush_to_zero", refused));
  EXPECT_THAT(reasons({.pin = "hostile.flush_to_zero"}),
              ElementsAre("hostile.flush_to_zero: chosen: pinned",
                          "hostile.healthy: hostile.flush_to_zero is pinned", refused));
}

TEST_F(Choosing, FindAllGivesTheUsableOnesBestFirst) {
  const auto all = host_->find_all<plumb_sampler>();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, "hostile.healthy");
  EXPECT_EQ(all[1].id, "hostile.flush_to_zero");
  EXPECT_TRUE(host_->find_all<plumb_tokenizer>().empty());
}

TEST_F(Choosing, OnlyWhatIsAskedForIsLoaded) {
  ASSERT_FALSE(host_->find<plumb_tokenizer>());
  for (const PluginReport& plugin : host_->report().plugins)
    EXPECT_EQ(plugin.decision, Decision::kListed);
  ASSERT_TRUE(host_->find<plumb_sampler>({.pin = "hostile.healthy"}));
  EXPECT_EQ(host_->report().plugins[0].decision, Decision::kListed);
  EXPECT_EQ(host_->report().plugins[1].decision, Decision::kLoaded);
  EXPECT_EQ(host_->report().plugins[1].facts.build, "test");
  host_->load_all();
  EXPECT_EQ(host_->report().plugins[0].decision, Decision::kLoaded);
  EXPECT_EQ(host_->report().plugins[2].decision, Decision::kRejected);
}

TEST_F(Choosing, AnUnknownPinListsWhatThereIs) {
  const auto found = host_->find<plumb_sampler>({.pin = "plumb.samplers.cor"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, PLUMB_NOT_FOUND);
  EXPECT_EQ(found.error().message,
            "no plugin has the id plumb.samplers.cor; for plumb.sampler/1 there are: "
            "hostile.flush_to_zero, "
            "hostile.healthy, hostile.probe_refuses");
}

TEST(Host_Choice, NothingButItsNameChoosesAPluginOfThatRank) {
  const PluginFolder folder;
  folder.add_with_manifest("named_only");
  auto alone = Host::create(folder.options());
  ASSERT_TRUE(alone) << alone.error().message;
  const auto none = alone->find<plumb_sampler>();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, PLUMB_NOT_FOUND);
  EXPECT_THAT(none.error().message, HasSubstr("hostile.named_only is used only where it is named"));
  EXPECT_TRUE(alone->find_all<plumb_sampler>().empty());
  EXPECT_TRUE(alone->find<plumb_sampler>({.pin = "hostile.named_only"}));
  EXPECT_TRUE(alone->find<plumb_sampler>({.prefer = {"hostile.named_only"}}));
  const auto candidates = alone->candidates(PLUMB_EXT_SAMPLER);
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_EQ(candidates[0].reason, "hostile.named_only is used only where it is named");
}

/// A plugin's search for others, through its plumb_host.
class Wrapping : public Choosing {
 protected:
  struct Answer {
    plumb_status status;
    std::string message;
    const void* table = nullptr;
    const plumb_host* host = nullptr;
  };

  static Answer ask(const plumb_host* host, const char* extension, const char* plugin) {
    ErrorBuffer error;
    Answer answer{};
    answer.status = host->find_extension(host->context, to_abi(extension), to_abi(plugin),
                                         &answer.table, &answer.host, error);
    answer.message = error.message();
    return answer;
  }

  const plumb_host* host_of(const char* pin) {
    const auto found = host_->find<plumb_sampler>({.pin = pin});
    EXPECT_TRUE(found);
    return found ? found->host : nullptr;
  }
};

TEST_F(Wrapping, FindsTheBestOfTheOthers) {
  const auto healthy = host_->find<plumb_sampler>();
  ASSERT_TRUE(healthy);
  EXPECT_EQ(healthy->id, "hostile.healthy");
  const Answer best = ask(healthy->host, PLUMB_EXT_SAMPLER, "auto");
  ASSERT_EQ(best.status, PLUMB_OK) << best.message;
  EXPECT_EQ(best.table, host_->find<plumb_sampler>({.pin = "hostile.flush_to_zero"})->table);
  EXPECT_EQ(ask(host_of("hostile.flush_to_zero"), PLUMB_EXT_SAMPLER, "auto").table, healthy->table);
}

TEST_F(Wrapping, NeverGoesInACircle) {
  const plumb_host* outer = host_of("hostile.healthy");
  const Answer itself = ask(outer, PLUMB_EXT_SAMPLER, "hostile.healthy");
  EXPECT_EQ(itself.status, PLUMB_INVALID_CONFIG);
  EXPECT_EQ(itself.message, "hostile.healthy would wrap hostile.healthy; expected another plugin");
  const Answer inner = ask(outer, PLUMB_EXT_SAMPLER, "flush_to_zero");
  ASSERT_EQ(inner.status, PLUMB_OK) << inner.message;
  const Answer back = ask(inner.host, PLUMB_EXT_SAMPLER, "healthy");
  EXPECT_EQ(back.status, PLUMB_INVALID_CONFIG);
  EXPECT_EQ(back.message,
            "hostile.flush_to_zero would wrap hostile.healthy, which wraps it; expected another "
            "plugin");
  const Answer third = ask(inner.host, PLUMB_EXT_SAMPLER, "auto");
  EXPECT_EQ(third.status, PLUMB_UNSUPPORTED) << "only the one that cannot run is left";
}

TEST_F(Wrapping, SaysWhatIsNotThere) {
  const plumb_host* host = host_of("hostile.healthy");
  EXPECT_EQ(ask(host, "acme.nothing/1", "auto").message,
            "this host knows no extension acme.nothing/1");
  EXPECT_EQ(ask(host, PLUMB_EXT_KERNELS, "auto").status, PLUMB_NOT_FOUND);
  EXPECT_EQ(ask(host, PLUMB_EXT_SAMPLER, "acme.absent").status, PLUMB_NOT_FOUND);
  ErrorBuffer error;
  EXPECT_EQ(host->find_extension(host->context, to_abi(PLUMB_EXT_SAMPLER), to_abi("auto"), nullptr,
                                 nullptr, error),
            PLUMB_INVALID_ARGUMENT);
  host_.reset();
  const Answer late = ask(host, PLUMB_EXT_SAMPLER, "auto");
  EXPECT_EQ(late.status, PLUMB_NOT_FOUND);
  EXPECT_EQ(late.message, "find_extension: the host has been closed");
}

TEST(Host_Discovery, TheFirstOfTwoIdsWinsAndTheOtherIsReported) {
  const PluginFolder first, second;
  first.add("healthy");  // scanned in a child
  second.add_with_manifest("healthy");
  HostOptions options = first.options();
  options.paths = {first.path(), second / "hostile.healthy.so"};
  auto host = Host::create(options);
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_EQ(host->report().plugins.size(), 2u);
  EXPECT_FALSE(host->report().plugins[0].has_manifest);
  EXPECT_EQ(host->report().plugins[1].decision, Decision::kShadowed);
  EXPECT_EQ(host->report().plugins[1].reason,
            "the same id as " + first / "hostile.healthy.so" + ", which comes first");
  EXPECT_TRUE(host->find<plumb_sampler>());
  EXPECT_EQ(host->report().plugins[0].decision, Decision::kLoaded);
}

/// Sets an environment variable for the length of a test.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Host_Discovery, ConfigThenEnvironmentThenUserAndNeverTheCurrentDirectory) {
  const PluginFolder config, listed, home;
  config.add_with_manifest("healthy");
  listed.add_with_manifest("no_extension");
  std::filesystem::create_directories(home / "plumbline/plugins");
  std::filesystem::copy_file(PLUMB_HOSTILE_DIR "/hostile.short_table.so",
                             home / "plumbline/plugins/short.so");
  home.add_manifest("plumbline/plugins/short", "hostile.short_table");
  const Environment path("PLUMB_PLUGIN_PATH", ".:" + listed.path() + "::/no/such/folder");
  const Environment data("XDG_DATA_HOME", home.path());

  HostOptions options = config.options();
  options.search_environment = options.search_user = true;
  const auto host = Host::create(options);
  ASSERT_TRUE(host) << host.error().message;
  const LoadReport& report = host->report();
  ASSERT_EQ(report.plugins.size(), 3u);
  EXPECT_EQ(report.plugins[0].origin, Origin::kConfig);
  EXPECT_EQ(report.plugins[1].origin, Origin::kEnvironment);
  EXPECT_EQ(report.plugins[2].origin, Origin::kUser);
  ASSERT_EQ(report.folders.size(), 5u);
  EXPECT_EQ(report.folders[1].problem,
            "not an absolute path: the current directory is never searched");
  EXPECT_EQ(report.folders[2].problem, "");
  EXPECT_EQ(report.folders[3].problem, "No such file or directory");
}

TEST(Host_Discovery, TheInstallFolderIsFoundFromTheExecutable) {
  HostOptions options;
  options.search_environment = options.search_user = false;
  const auto host = Host::create(options);
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_EQ(host->report().folders.size(), 1u);
  EXPECT_EQ(host->report().folders[0].path, PLUMB_BUILD_PLUGIN_DIR);
}

TEST(Host_Discovery, AConfiguredPathThatDoesNotExistIsAnError) {
  const auto missing = Host::create({.paths = {"/no/such/plugin.so"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, PLUMB_NOT_FOUND);
  EXPECT_THAT(missing.error().message, HasSubstr("plugin path /no/such/plugin.so: "));

  const PluginFolder folder;
  folder.write("notes.txt", "x");
  const auto no_plugin = Host::create({.paths = {folder / "notes.txt"}});
  ASSERT_FALSE(no_plugin);
  EXPECT_EQ(no_plugin.error().code, PLUMB_INVALID_CONFIG);
}

TEST(Host_Discovery, AMissingScanProgramRejectsWhatIsUnknown) {
  const PluginFolder folder;
  folder.add("healthy");
  HostOptions options = folder.options();
  options.scan_program = "/no/such/scan";
  const auto host = Host::create(options);
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(host->report().plugins[0].reason,
            "cannot run /no/such/scan: No such file or directory");
}

TEST(Host_Services, MapFileGivesTheBytesAndSurvivesAWrongUnmap) {
  const PluginFolder folder;
  folder.add_with_manifest("healthy");
  folder.write("data", "four");
  auto host = Host::create(folder.options());
  ASSERT_TRUE(host) << host.error().message;
  const auto found = host->find<plumb_sampler>();
  ASSERT_TRUE(found) << found.error().message;
  const plumb_host& services = *found->host;

  plumb_bytes bytes{};
  plumb_handle mapping = 0;
  ErrorBuffer error;
  ASSERT_EQ(services.map_file(services.context, to_abi(folder / "data"), &bytes, &mapping, error),
            PLUMB_OK);
  EXPECT_EQ(to_view(bytes), "four");
  services.drop_pages(services.context, mapping, 0, 4);
  EXPECT_EQ(to_view(bytes), "four");
  services.unmap_file(services.context, mapping);
  services.unmap_file(services.context, mapping);
  services.unmap_file(services.context, 12345);
  EXPECT_EQ(services.map_file(services.context, to_abi(folder / "none"), &bytes, &mapping, error),
            PLUMB_NOT_FOUND);
  EXPECT_EQ(error.message(), folder / "none" + ": No such file or directory");
}

}  // namespace
}  // namespace plumbline
