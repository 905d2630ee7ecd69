// diff's files for people and machines. Oracle: the JSON report of the same comparison.
#include <gmock/gmock.h>

#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ReportFiles : public PlumbCommand {};

TEST_F(ReportFiles, ComeWithTheVerdictAndLater) {
  const Outcome ran = shell(
      "$PLUMB diff tiny-world --swap kernels=reference -p 'Mara lives in' --tokens 2 "
      "-o a.json --html a.html --junit a.xml");
  ASSERT_LE(ran.exit, 1) << ran.err;
  EXPECT_THAT(files(), ElementsAre("a.html", "a.json", "a.xml"));
  const std::string verdict = nlohmann::json::parse(read_file(path("a.json")))["verdict"];
  EXPECT_THAT(read_file(path("a.html")), HasSubstr("<title>plumb diff: " + verdict + "</title>"));
  EXPECT_THAT(read_file(path("a.xml")), HasSubstr("name=\"20 ops\""));
  // From the JSON report the same files come again.
  ASSERT_EQ(shell("$PLUMB diff --from a.json --html b.html --junit b.xml").exit, ran.exit);
  EXPECT_EQ(read_file(path("b.html")), read_file(path("a.html")));
  EXPECT_EQ(read_file(path("b.xml")), read_file(path("a.xml")));
}

TEST_F(ReportFiles, AFullDiskIsToldOf) {
  ASSERT_LE(
      shell("$PLUMB diff tiny-world --swap kernels=reference -p Mara --tokens 1 -o a.json").exit,
      1);
  const Outcome ran = shell("$PLUMB diff --from a.json --html /dev/full");
  EXPECT_EQ(ran.exit, 4);
  EXPECT_THAT(ran.err, HasSubstr("/dev/full"));
}

}  // namespace
}  // namespace plumbline::test
