// Texts of others on a terminal, and files of others in memory. Oracle: Unicode's general category
// Cc and its property Bidi_Control; POSIX.
#include "core/base/printable.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "core/base/os/regular_file.h"
#include "tests/support/temporary_folder.h"

namespace plumbline {
namespace {

using testing::HasSubstr;

TEST(Printable, NothingThatATerminalObeysIsLeft) {
  EXPECT_EQ(printable("a\x1b[2J\x7f\n"), "a?[2J??");
  EXPECT_EQ(printable("\xc2\x80\xc2\x9b\xc2\x9f"), "???");
  EXPECT_EQ(
      printable("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9"),
      "???????");
  EXPECT_EQ(printable(std::string_view("\0\xc2", 2)), "?\xc2");
}

TEST(Printable, TheRestStays) {
  const char* text = "é €\xc2\xa0\xe2\x80\x8d\xe2\x80\xaf\xe2\x81\xaa 😀 ا";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("a\n\tb\r", "\n\t"), "a\n\tb?");
}

TEST(RegularFile, IsReadWholeOrRefused) {
  const test::TemporaryFolder folder;
  folder.write("a", "12345");
  folder.write("empty", "");
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder.path("endless"));
  EXPECT_EQ(os::read_regular_file(folder.path("a"), 5).value(), "12345");
  EXPECT_EQ(os::read_regular_file(folder.path("empty"), 5).value(), "");
  EXPECT_THAT(os::read_regular_file(folder.path("a"), 4).error().message,
              HasSubstr("found 5 bytes, expected at most 4"));
  for (const char* name : {"pipe", "endless", "."}) {
    const auto refused = os::read_regular_file(folder.path(name), 5);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, PLUMB_CORRUPT);
  }
  EXPECT_EQ(os::read_regular_file(folder.path("none"), 5).error().code, PLUMB_NOT_FOUND);
}

}  // namespace
}  // namespace plumbline
