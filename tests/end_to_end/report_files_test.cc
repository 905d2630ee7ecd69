// diff's files for people and machines. Oracle: the JSON report of the same comparison.
#include <gmock/gmock.h>

#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using testing::AnyOf;
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

// Told before anything is compared: the config is not even looked for.
TEST_F(ReportFiles, TargetsThatCannotBeAreRefusedBeforeTheWork) {
  write("a.yaml", "not read");
  for (const char* onto_one : {"diff no-such-config -o x --html x", "diff a.yaml -o ./a.yaml",
                               "diff no-such-config -o x --junit ./x", "reduce a.yaml -o ''",
                               "diff no-such-config --html ."}) {
    const Outcome refused = shell(std::string("$PLUMB ") + onto_one);
    EXPECT_EQ(refused.exit, 2) << onto_one;
    EXPECT_THAT(refused.err,
                AnyOf(HasSubstr("is to be written twice"), HasSubstr("is read as well"),
                      HasSubstr("expected the name of a")))
        << onto_one;
  }
  for (const char* nowhere : {"diff no-such-config --html no/such/x.html",
                              "golden record no-such-config -p Mara -o no/such/g",
                              "reduce no-such-config -o no/such/case"}) {
    const Outcome refused = shell(std::string("$PLUMB ") + nowhere);
    EXPECT_EQ(refused.exit, 4) << nowhere;
    EXPECT_THAT(refused.err, HasSubstr("no such folder")) << nowhere;
  }
  EXPECT_EQ(read_file(path("a.yaml")), "not read");
}

}  // namespace
}  // namespace plumbline::test
