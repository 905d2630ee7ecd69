// Oracle: what was added; the file's bytes as line_history.h describes them.
#include "core/editor/line_history.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace plumbline::editor {
namespace {

namespace fs = std::filesystem;

using Entries = std::deque<std::string>;

class Editor_LineHistory : public testing::Test {
 protected:
  LineHistory open() const {
    Result<LineHistory> history = LineHistory::open(path_);
    EXPECT_TRUE(history) << history.error().message;
    return *std::move(history);
  }
  void write(std::string_view bytes) const {
    fs::create_directories(fs::path(path_).parent_path());
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.path("state/plumbline/history");
};

TEST_F(Editor_LineHistory, SurvivesWithItsLines) {
  const std::string entries[] = {"one", "two\nlines", "back\\slash \\n", "日本 😀", "\\"};
  {
    LineHistory history = open();
    for (const std::string& entry : entries) EXPECT_TRUE(history.add(entry));
  }
  EXPECT_EQ(open().entries(), Entries(std::begin(entries), std::end(entries)));
  EXPECT_EQ(bytes().substr(0, 15), "one\ntwo\\nlines\n");
}

TEST_F(Editor_LineHistory, IsPrivate) {
  LineHistory history = open();
  EXPECT_FALSE(fs::exists(path_)) << "nothing was added";
  EXPECT_TRUE(history.add("secret"));
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms(0600));
  EXPECT_EQ(fs::status(fs::path(path_).parent_path()).permissions(), fs::perms(0700));
  fs::permissions(path_, fs::perms(0644));
  EXPECT_TRUE(history.add("more"));
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms(0600));
}

TEST_F(Editor_LineHistory, TakesNothingTwiceInARow) {
  LineHistory history = open();
  for (const char* entry : {"a", "a", "", "b", "a"}) EXPECT_TRUE(history.add(entry));
  EXPECT_EQ(history.entries(), (Entries{"a", "b", "a"}));
  EXPECT_EQ(bytes(), "a\nb\na\n");
}

TEST_F(Editor_LineHistory, ACutFileLosesTheCutEntryOnly) {
  const std::string whole = "one\ntwo\\nlines\nthree 日本\n";
  for (size_t n = 0; n <= whole.size(); ++n) {
    write(whole.substr(0, n));
    const auto n_whole = static_cast<size_t>(std::count(whole.begin(), whole.begin() + n, '\n'));
    EXPECT_EQ(open().entries().size(), n_whole) << n;
    EXPECT_TRUE(open().add("next"));
    EXPECT_EQ(open().entries().size(), n_whole + 1) << n;
    EXPECT_EQ(open().entries().back(), "next") << n;
  }
}

TEST_F(Editor_LineHistory, IsBounded) {
  std::string lines;
  for (int i = 0; i < 3000; ++i) lines += std::to_string(i) + "\n";
  write(lines);
  const LineHistory history = open();
  EXPECT_EQ(history.entries().size(), LineHistory::kEntriesMax);
  EXPECT_EQ(history.entries().back(), "2999");
  const std::string kept = bytes();
  EXPECT_EQ(std::count(kept.begin(), kept.end(), '\n'),
            static_cast<long>(LineHistory::kEntriesMax));
  EXPECT_EQ(folder_.files(), std::vector<std::string>{"state"});
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(path_).parent_path()), {}), 1);
}

TEST_F(Editor_LineHistory, LongEntriesStayInMemory) {
  LineHistory history = open();
  EXPECT_TRUE(history.add(std::string(LineHistory::kKeptBytesMax + 1, 'x')));
  EXPECT_EQ(history.entries().size(), 1u);
  EXPECT_TRUE(open().entries().empty());
}

TEST_F(Editor_LineHistory, AFilesBytesAreHostile) {
  write(std::string("\x1b[2J\0\xff\\\n", 8));
  EXPECT_EQ(open().entries(), Entries{"\uFFFD[2J\uFFFD\uFFFD\\"});
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_EQ(LineHistory::open(path_).error().code, PLUMB_CORRUPT);
}

TEST_F(Editor_LineHistory, FindsTheNewestBefore) {
  LineHistory history;
  for (const char* entry : {"red", "green", "dark red"}) EXPECT_TRUE(history.add(entry));
  EXPECT_EQ(history.find_before(3, "red"), 2u);
  EXPECT_EQ(history.find_before(2, "red"), 0u);
  EXPECT_FALSE(history.find_before(0, "red"));
  EXPECT_FALSE(history.find_before(3, "blue"));
}

}  // namespace
}  // namespace plumbline::editor
