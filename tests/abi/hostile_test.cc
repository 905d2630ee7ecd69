// Oracle: the rules of core/doc/abi.md. Each hostile library breaks one; the host must name it, in
// one line, and live on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "core/host/host.h"
#include "tests/abi/plugin_folder.h"

namespace plumbline {
namespace {

using testing::HasSubstr;

struct Fault {
  const char* kind;
  plumb_status code;
  const char* message;  // part of it
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << fault.kind;
}

/// Faults that already show at the door: seen in the child process, or on loading if a manifest
/// vouches.
constexpr Fault kAtTheDoor[] = {
    {"no_entry", PLUMB_INCOMPATIBLE,
     "a library, but no plugin: it does not export plumb_plugin_entry"},
    {"too_new", PLUMB_INCOMPATIBLE, "the plugin speaks ABI 7 to 9, this host 1 to 1"},
    {"wrong_choice", PLUMB_INCOMPATIBLE,
     "the plugin chose ABI version 5, this host offered 1 to 1"},
    {"silent_refusal", PLUMB_INTERNAL, "its entry failed: INTERNAL"},
    {"unknown_status", PLUMB_INTERNAL, "its entry failed: status 999 is none of the ABI's"},
    {"null_plugin", PLUMB_INTERNAL, "its entry succeeded without a plugin"},
    {"short_struct", PLUMB_INCOMPATIBLE, "plumb_plugin.struct_bytes is 24, expected at least 128"},
    {"null_probe", PLUMB_INTERNAL, "plumb_plugin lacks probe, rank or extension"},
    {"empty_id", PLUMB_INTERNAL, "the plugin's id is \"\", expected"},
    {"bad_id", PLUMB_INTERNAL, "the plugin's id is \"Evil/../Plugin\", expected"},
    {"wild_string", PLUMB_INTERNAL, "the plugin's vendor is no valid view of a text"},
    {"throws_in_entry", PLUMB_INTERNAL, "its entry failed: thrown over the line"},
    {"undefined_symbol", PLUMB_INCOMPATIBLE, "undefined symbol: plumb_no_such_function"},
};

class AtTheDoor : public testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(Abi, AtTheDoor, testing::ValuesIn(kAtTheDoor),
                         [](const auto& test) { return std::string(test.param.kind); });

TEST_P(AtTheDoor, IsRejectedByTheScan) {
  const PluginFolder folder;
  folder.add(GetParam().kind);
  const auto host = Host::create(folder.options());
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_EQ(host->report().plugins.size(), 1u);
  const PluginReport& seen = host->report().plugins[0];
  EXPECT_EQ(seen.decision, Decision::kRejected);
  EXPECT_EQ(seen.code, GetParam().code);
  EXPECT_THAT(seen.reason, HasSubstr(GetParam().message));
  EXPECT_NE(seen.remedy, "");
}

TEST_P(AtTheDoor, IsRejectedOnLoadingWithPathIdAndRemedy) {
  const PluginFolder folder;
  folder.add_with_manifest(GetParam().kind);
  auto host = Host::create(folder.options());
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(host->report().plugins[0].decision, Decision::kListed);
  const std::string id = std::string("hostile.") + GetParam().kind;
  const auto found = host->find<plumb_sampler>({.pin = id});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, GetParam().code);
  EXPECT_THAT(found.error().message, HasSubstr(folder / (id + ".so") + ": " + id + ": "));
  EXPECT_THAT(found.error().message, HasSubstr(GetParam().message));
  EXPECT_THAT(found.error().message, HasSubstr("; "));
  EXPECT_EQ(found.error().message.find('\n'), std::string::npos);
}

/// Faults behind the door: the scan has nothing against them, the use has.
constexpr Fault kBehindTheDoor[] = {
    {"probe_refuses", PLUMB_UNSUPPORTED,
     "it cannot run here: needs a processor of 2040; pick another plugin"},
    {"no_extension", PLUMB_NOT_FOUND, "it has no plumb.sampler/1"},
    {"short_table", PLUMB_INCOMPATIBLE,
     "its table for plumb.sampler/1 measures 16 bytes, expected at least 80"},
    {"null_function", PLUMB_INCOMPATIBLE, "its table for plumb.sampler/1 lacks the function apply"},
};

class BehindTheDoor : public testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(Abi, BehindTheDoor, testing::ValuesIn(kBehindTheDoor),
                         [](const auto& test) { return std::string(test.param.kind); });

TEST_P(BehindTheDoor, IsRejectedWhenAskedFor) {
  const PluginFolder folder;
  folder.add_with_manifest(GetParam().kind);
  auto host = Host::create(folder.options());
  ASSERT_TRUE(host) << host.error().message;
  const auto pinned = host->find<plumb_sampler>({.pin = std::string("hostile.") + GetParam().kind});
  ASSERT_FALSE(pinned);
  EXPECT_EQ(pinned.error().code, GetParam().code);
  EXPECT_THAT(pinned.error().message, HasSubstr(GetParam().message));

  const auto any = host->find<plumb_sampler>();
  ASSERT_FALSE(any);
  EXPECT_THAT(any.error().message, HasSubstr(GetParam().message));
}

struct Accident {
  const char* kind;
  const char* message;
};
class InTheChild : public testing::TestWithParam<Accident> {};
INSTANTIATE_TEST_SUITE_P(
    Abi, InTheChild,
    testing::Values(
        Accident{"aborts", "in a child process: killed by signal 6 (Aborted)"},
        Accident{"hangs", "in a child process: no end within the time limit of 300 ms"},
        Accident{"exits", "it ends the process or writes to standard output when loaded"},
        Accident{"chatters", "it ends the process or writes to standard output when loaded"}),
    [](const auto& test) { return std::string(test.param.kind); });

TEST_P(InTheChild, AnAccidentAtLoadDoesNotReachTheHost) {
  const PluginFolder folder;
  folder.add(GetParam().kind);
  folder.add("healthy");
  HostOptions options = folder.options();
  if (std::string(GetParam().kind) == "hangs")
    options.scan_timeout = std::chrono::milliseconds(300);
  auto host = Host::create(options);
  ASSERT_TRUE(host) << host.error().message;
  const PluginReport& seen = host->report().plugins[0];
  EXPECT_EQ(seen.decision, Decision::kRejected);
  EXPECT_THAT(seen.reason, HasSubstr(GetParam().message));
  EXPECT_TRUE(host->find<plumb_sampler>()) << "the healthy one beside it";
}

TEST(Abi_Hostile, AConstructorThatFlushesDenormalsDoesNotChangeOurArithmetic) {
  const PluginFolder folder;
  folder.add_with_manifest("flush_to_zero");
  auto host = Host::create(folder.options());
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_TRUE(host->find<plumb_sampler>());
  volatile float smallest = std::numeric_limits<float>::min();
  EXPECT_NE(smallest / 2, 0.0f);
}

/// The first n_bytes of a library that is whole.
std::string start_of_library(size_t n_bytes) {
  std::ifstream file(PLUMB_HOSTILE_DIR "/hostile.healthy.so", std::ios::binary);
  std::string bytes(n_bytes, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(n_bytes));
  return bytes;
}

TEST(Abi_Hostile, FilesThatAreNoLibraries) {
  const PluginFolder folder;
  folder.write("empty.so", "");
  folder.write("text.so", "This is not a library, whatever its name says.\n");
  for (const size_t n : {size_t{5}, size_t{63}, size_t{100}, size_t{1000}, size_t{5000}}) {
    folder.write("cut-" + std::to_string(n) + ".so", start_of_library(n));
  }
  std::filesystem::create_directory(folder / "folder.so");
  std::filesystem::create_symlink("/no/such/file", folder / "dangling.so");
  const auto files = {"cut-100.so",  "cut-1000.so", "cut-5.so",  "cut-5000.so", "cut-63.so",
                      "dangling.so", "empty.so",    "folder.so", "text.so"};
  // Twice: through the scan, and with manifests that vouch for them, so that this process has to
  // judge.
  for (const bool is_vouched_for : {false, true}) {
    for (const std::string name : files) {
      const std::string stem = name.substr(0, name.size() - 3);
      if (is_vouched_for) folder.add_manifest(stem, "acme." + stem);
    }
    auto host = Host::create(folder.options());
    ASSERT_TRUE(host) << host.error().message;
    ASSERT_FALSE(host->find<plumb_sampler>());
    ASSERT_EQ(host->report().plugins.size(), files.size());
    for (const PluginReport& seen : host->report().plugins) {
      EXPECT_EQ(seen.decision, Decision::kRejected) << seen.path;
      const bool is_dangling = seen.path == folder / "dangling.so";
      EXPECT_EQ(seen.code, is_dangling ? PLUMB_NOT_FOUND : PLUMB_CORRUPT) << seen.path;
      EXPECT_NE(seen.reason, "") << seen.path;
    }
  }
}

class BrokenManifest : public testing::TestWithParam<std::pair<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(
    Abi, BrokenManifest,
    testing::Values(std::pair("", "the file is empty"),
                    std::pair("{\"id\": ", "no JSON: at line 1, column"),
                    std::pair("[]", "array, expected an object"),
                    std::pair("{}", "\"id\" is \"\", expected"),
                    std::pair(R"({"id": 3})", "\"id\" is number, expected a string"),
                    std::pair(R"({"id": "a", "abi": [2, 1], "extensions": []})",
                              "expected 1 <= oldest <= newest"),
                    std::pair(R"({"id": "a", "abi": [1, -1], "extensions": []})",
                              "\"abi\" must be [oldest, newest]"),
                    std::pair(R"({"id": "a", "abi": [1, 1], "extensions": "x"})",
                              "\"extensions\" must be a list"),
                    std::pair(R"({"id": "a", "abi": [1, 1], "extensions": [1]})",
                              "\"extensions\" must be a list"),
                    std::pair(R"({"id": "a", "abi": [4, 6], "extensions": []})",
                              "the plugin speaks ABI 4 to 6, this host 1 to 1")));

TEST_P(BrokenManifest, IsRejectedWithItsReason) {
  const PluginFolder folder;
  folder.add("healthy");
  folder.write("hostile.healthy.plugin.json", GetParam().first);
  const auto host = Host::create(folder.options());
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_EQ(host->report().plugins.size(), 1u);
  EXPECT_EQ(host->report().plugins[0].decision, Decision::kRejected);
  EXPECT_THAT(host->report().plugins[0].reason, HasSubstr(GetParam().second));
}

TEST(Abi_Hostile, HugeAndDeepManifests) {
  const PluginFolder folder;
  folder.add("healthy");
  folder.write("hostile.healthy.plugin.json", std::string(5 << 20, ' '));
  auto host = Host::create(folder.options());
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_THAT(host->report().plugins[0].reason, HasSubstr("5242880 bytes, expected at most 65536"));

  folder.write("hostile.healthy.plugin.json", std::string(60000, '['));
  host = Host::create(folder.options());
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_THAT(host->report().plugins[0].reason, HasSubstr("no JSON"));
}

TEST(Abi_Hostile, AManifestWithoutItsLibraryAndOneOfAnother) {
  const PluginFolder folder;
  folder.add_manifest("gone", "acme.gone");
  folder.add("healthy");
  folder.add_manifest("hostile.healthy", "acme.impostor");
  auto host = Host::create(folder.options());
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_THAT(host->report().plugins[0].reason, HasSubstr("the manifest's library is missing"));
  const auto found = host->find<plumb_sampler>({.pin = "acme.impostor"});
  ASSERT_FALSE(found);
  EXPECT_THAT(
      found.error().message,
      HasSubstr("the library says that it is hostile.healthy, its manifest says acme.impostor"));
}

}  // namespace
}  // namespace plumbline
