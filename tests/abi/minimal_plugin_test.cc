// Oracle: what tests/abi/minimal_plugin.c promises in its first line; loaded or linked in makes no
// difference.
#include <gtest/gtest.h>

#include <string>

#include "core/host/host.h"
#include "plumb/sdk/abi.h"

extern "C" plumb_status PLUMB_CALL acme_lowest_entry(const plumb_offer*, plumb_answer*,
                                                     plumb_error*);

namespace plumbline {
namespace {

HostOptions nowhere() {
  HostOptions options;
  options.search_environment = options.search_user = options.search_install = false;
  return options;
}

int32_t pick_lowest(const plumb_sampler& sampler, const plumb_host* host) {
  EXPECT_EQ(to_view(sampler.stage_at(0)), "lowest_id");
  EXPECT_EQ(to_view(sampler.stage_at(1)), "");
  void* self = nullptr;
  ErrorBuffer error;
  EXPECT_EQ(sampler.create(host, to_abi("lowest_id"), to_abi("{}"), 100, &self, error), PLUMB_OK);
  int32_t ids[] = {42, 17, 99};
  float logits[] = {3, 2, 1};
  auto candidates = make_abi<plumb_candidates>();
  candidates.ids = ids;
  candidates.logits = logits;
  candidates.n = 3;
  candidates.picked = -1;
  const auto context = make_abi<plumb_sample_context>();
  EXPECT_EQ(sampler.apply(self, &context, nullptr, &candidates, error), PLUMB_OK);
  sampler.destroy(self);
  return candidates.picked;
}

TEST(Abi_MinimalPlugin, LoadedAndLinkedInAreTheSame) {
  HostOptions dynamic = nowhere();
  dynamic.paths = {PLUMB_MINIMAL_DIR "/acme.lowest.so"};
  HostOptions linked = nowhere();
  linked.static_plugins = {acme_lowest_entry};

  for (const HostOptions& options : {dynamic, linked}) {
    auto host = Host::create(options);
    ASSERT_TRUE(host) << host.error().message;
    const auto found = host->find<plumb_sampler>({.pin = "acme.lowest"});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(pick_lowest(*found->table, found->host), 17);
    ASSERT_EQ(host->report().plugins.size(), 1u);
    const PluginFacts& facts = host->report().plugins[0].facts;
    EXPECT_EQ(facts.id, "acme.lowest");
    EXPECT_EQ(facts.version, "1.0.0");
    EXPECT_EQ(facts.vendor, "Acme");
    EXPECT_EQ(facts.license, "Apache-2.0");
    EXPECT_EQ(facts.description, "Picks the lowest id");
    EXPECT_EQ(facts.abi_oldest, 1u);
    EXPECT_EQ(facts.abi_newest, 1u);
    EXPECT_EQ(facts.extensions, std::vector<std::string>{PLUMB_EXT_SAMPLER});
    EXPECT_EQ(host->report().plugins[0].decision, Decision::kLoaded);
  }
}

TEST(Abi_MinimalPlugin, ALinkedInPluginShadowsLaterOnesOfItsId) {
  HostOptions options = nowhere();
  options.static_plugins = {acme_lowest_entry, acme_lowest_entry};
  const auto host = Host::create(options);
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_EQ(host->report().plugins.size(), 2u);
  EXPECT_EQ(host->report().plugins[1].decision, Decision::kShadowed);
  EXPECT_EQ(host->report().plugins[1].reason, "the same id as built in, which comes first");
}

/// A host of the future, which has dropped version 1, and one that still speaks it.
TEST(Abi_MinimalPlugin, NegotiatesWithNewerHosts) {
  auto offer = make_abi<plumb_offer>();
  auto answer = make_abi<plumb_answer>();
  ErrorBuffer error;
  offer.version_oldest = 2;
  offer.version_newest = 4;
  EXPECT_EQ(acme_lowest_entry(&offer, &answer, error), PLUMB_INCOMPATIBLE);
  EXPECT_EQ(answer.version_oldest, 1u);
  EXPECT_EQ(answer.version_newest, 1u);
  EXPECT_NE(error.message(), "");
  offer.version_oldest = 1;
  EXPECT_EQ(acme_lowest_entry(&offer, &answer, error), PLUMB_OK);
  EXPECT_EQ(answer.version, 1u);
}

}  // namespace
}  // namespace plumbline
