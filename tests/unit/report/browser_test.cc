// The page in a real browser. Oracle: what Chromium logs, lays out and paints.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "core/base/os/process.h"
#include "core/report/html_page.h"
#include "tests/support/made_report.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::test {
namespace {

using nlohmann::json;

// Presses all that can be pressed, in every prompt, then tells what is there.
constexpr const char* kUse = R"js(<script>
addEventListener("load", () => setTimeout(async () => {
  const wait = () => new Promise((done) => setTimeout(done, 20));
  const told = { prompts: [], widest: 0, tips: 0 };
  const choices = [...document.querySelectorAll("#prompts td button")].length || 1;
  for (let i = 0; i < choices; ++i) {
    const button = document.querySelectorAll("#prompts td button")[i];
    if (button) button.click();
    await wait();
    for (const details of document.querySelectorAll("details")) details.open = true;
    for (const select of document.querySelectorAll("select")) {
      select.selectedIndex = select.options.length - 1;
      select.dispatchEvent(new Event("change"));
    }
    for (const input of document.querySelectorAll("input[type=radio], input[type=checkbox]")) input.click();
    await wait();
    for (const plot of document.querySelectorAll(".plot > svg")) {
      for (const key of ["ArrowRight", "ArrowDown", "ArrowLeft"])
        plot.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
      if (!document.getElementById("tip").hidden) ++told.tips;
      plot.dispatchEvent(new Event("blur"));
    }
    told.prompts.push({
      sections: [...document.querySelectorAll("section")].map((s) => s.id),
      plots: document.querySelectorAll(".plot > svg").length,
      rows: document.querySelectorAll("#ops tbody tr").length,
      images: document.querySelectorAll("img, iframe, script[src]").length,
    });
  }
  for (const button of document.querySelectorAll("button")) button.click();
  told.widest = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  told.banner = document.querySelector(".banner h1").textContent;
  told.title = document.title;
  document.documentElement.dataset.told = JSON.stringify(told);
}, 50));
</script>)js";

class Browser : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = os::run({"sh", "-c", "command -v chromium"}, {});
    if (!found || found->code != 0)
      GTEST_SKIP() << "there is no chromium here: apt-get install chromium";
  }

  os::RunResult chromium(const std::vector<std::string>& options, const std::string& url) const {
    std::vector<std::string> line = {"chromium",
                                     "--headless=new",
                                     "--disable-gpu",
                                     "--no-sandbox",
                                     "--hide-scrollbars",
                                     "--enable-logging=stderr",
                                     "--user-data-dir=" + folder_.path("profile"),
                                     "--virtual-time-budget=20000"};
    line.insert(line.end(), options.begin(), options.end());
    line.push_back(url);
    os::RunOptions limits;
    limits.timeout = std::chrono::minutes(5);  // only against a hang
    auto ran = os::run(line, limits);
    EXPECT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->code, 0) << ran->err;
    EXPECT_EQ(ran->err.find("CONSOLE"), std::string::npos) << ran->err;
    return *ran;
  }
  std::string write(const std::string& name, std::string_view page) const {
    return "file://" + folder_.write(name, page);
  }
  // What kUse told.
  json used(const diff::Report& report, const std::string& width) const {
    std::string page = report::html_page(report);
    page.insert(page.rfind("</body>"), kUse);
    const std::string dom =
        chromium({"--dump-dom", "--window-size=" + width + ",1000"}, write("used.html", page)).out;
    std::smatch match;
    const std::string head = dom.substr(0, 20000);
    EXPECT_TRUE(std::regex_search(head, match, std::regex("data-told=\"([^\"]*)\""))) << head;
    if (match.empty()) return {};
    return json::parse(std::regex_replace(match[1].str(), std::regex("&quot;"), "\""));
  }

  TemporaryFolder folder_;
};

TEST_F(Browser, ShowsEveryPromptAndDoesNotBreak) {
  const diff::Report report = made_report();
  const json told = used(report, "1200");
  ASSERT_FALSE(told.is_null());
  EXPECT_EQ(told["banner"], "WRONG");
  EXPECT_EQ(told["title"], "plumb diff: WRONG") << "a stranger's script ran";
  ASSERT_EQ(told["prompts"].size(), report.prompts.size());
  for (size_t i = 0; i < report.prompts.size(); ++i) {
    const json& prompt = told["prompts"][i];
    for (const char* section :
         {"doors", "ops", "heat", "logits", "steps", "tokens", "texts", "sides"})
      EXPECT_THAT(prompt["sections"].get<std::vector<std::string>>(), testing::Contains(section))
          << i;
    EXPECT_EQ(prompt["plots"], 5) << i;
    EXPECT_EQ(prompt["rows"], report.prompts[i].ops.size()) << i;
    EXPECT_EQ(prompt["images"], 0) << i;
  }
  EXPECT_EQ(told["tips"], 5 * report.prompts.size()) << "keys step through every plot";
}

TEST_F(Browser, FitsANarrowScreen) {
  // The narrowest window that Chromium makes.
  const json told = used(made_report(), "500");
  ASSERT_FALSE(told.is_null());
  EXPECT_EQ(told["widest"], 0) << "the page scrolls sideways";
}

TEST_F(Browser, ShowsAMatchAndNothing) {
  const json match = used(made_match(), "1200");
  EXPECT_EQ(match["banner"], "MATCH");
  EXPECT_EQ(match["prompts"][0]["plots"], 2) << "logits and ranks; there are no errors to draw";
  diff::Report nothing;
  nothing.is_empty = true;
  EXPECT_EQ(used(nothing, "1200")["banner"], "NOTHING COMPARED");
}

TEST_F(Browser, PaintsBothColourings) {
  // Different lines of pixels of a PNG, by another program.
  const std::string lines = folder_.write("lines.py", R"py(
import struct, sys, zlib
png = open(sys.argv[1], 'rb').read()
at, pixels = 8, b''
while at < len(png):
    size, kind = struct.unpack('>I4s', png[at:at + 8])
    if kind == b'IHDR': width, height, depth, colour = struct.unpack('>IIBB', png[at + 8:at + 18])
    if kind == b'IDAT': pixels += png[at + 8:at + 8 + size]
    at += 12 + size
data = zlib.decompress(pixels)
row = len(data) // height
print(len({data[i:i + row] for i in range(0, len(data), row)}))
)py");
  std::string page = report::html_page(made_report());
  for (const char* theme : {"light", "dark"}) {
    std::string themed = page;
    themed.replace(themed.find("<html"), 5, std::string("<html data-theme=\"") + theme + "\"");
    const std::string image = folder_.path(theme) + ".png";
    chromium({"--screenshot=" + image, "--window-size=1200,3000"}, write("page.html", themed));
    const auto counted = os::run({"python3", lines, image}, {});
    ASSERT_TRUE(counted && counted->code == 0) << theme;
    EXPECT_GT(std::stoi(counted->out), 1000) << theme << ": of 3000 lines those of text and plots";
  }
}

}  // namespace
}  // namespace plumbline::test
