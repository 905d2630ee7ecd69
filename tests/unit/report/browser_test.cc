// The pages in a real browser, all in the frames of one: its start is most of the time. Oracle:
// what Chromium logs, lays out and paints.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/os/process.h"
#include "core/report/html_page.h"
#include "core/report/quantisation_page.h"
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
  parent.postMessage({ name: window.name, told }, "*");
}, 50));
</script>)js";

// Waits for n frames, and keeps what they tell where --dump-dom shows it first.
constexpr const char* kGather = R"js(<script>
const told = {};
addEventListener("message", ({ data }) => {
  told[data.name] = data.told;
  document.documentElement.dataset.told = encodeURIComponent(JSON.stringify(told));
});
</script>)js";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

struct Frame {
  std::string name;
  std::string page;
  int width, height;
};

report::QuantisationReport made_quantisation(bool has_b) {
  std::vector<diff::Scored> rows;
  for (uint32_t i = 0; i < 96; ++i) {
    diff::Scored one;
    one.chunk = i / 32;
    one.row.a = {.nll = 2 + 0.01 * (i % 7), .p = 0.2 + 0.001 * (i % 5), .top = 5};
    one.row.b = {.nll = 2.1 + 0.02 * (i % 5), .p = 0.19 + 0.002 * (i % 3), .top = i % 9 ? 5 : 6};
    one.row.kl = i % 4 == 0 ? 0 : 1e-4 * (i + 1);
    one.row.kl_likely = one.row.kl;
    rows.push_back(one);
  }
  report::QuantisationReport made;
  made.text = kHostileText;
  made.a = made_report().a;
  if (has_b) made.b = made_report().b;
  made.scores = diff::summarise(rows, has_b, 64, 400);
  return made;
}

class Browser : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = os::run({"sh", "-c", "command -v chromium"}, {});
    if (!found || found->code != 0)
      GTEST_SKIP() << "there is no chromium here: apt-get install chromium";
  }

  os::RunResult chromium(const std::vector<std::string>& options, const std::string& page) const {
    std::vector<std::string> line = {"chromium",
                                     "--headless=new",
                                     "--disable-gpu",
                                     "--no-sandbox",
                                     "--hide-scrollbars",
                                     "--enable-logging=stderr",
                                     "--user-data-dir=" + folder_.path("profile"),
                                     "--virtual-time-budget=20000"};
    line.insert(line.end(), options.begin(), options.end());
    line.push_back("file://" + folder_.write("page.html", page));
    os::RunOptions limits;
    limits.timeout = std::chrono::minutes(5);  // only against a hang
    auto ran = os::run(line, limits);
    EXPECT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->code, 0) << ran->err;
    EXPECT_EQ(ran->err.find("CONSOLE"), std::string::npos) << ran->err;
    return *ran;
  }

  // One below the other.
  static std::string framed(const std::vector<Frame>& frames, const std::string& head) {
    std::string page = "<!doctype html><html><meta charset=utf-8><body style='margin:0'>" + head;
    for (const Frame& frame : frames) {
      page += "<iframe style='border:0;display:block' name='" + frame.name +
              "' width=" + std::to_string(frame.width) + " height=" + std::to_string(frame.height) +
              " srcdoc=\"" + replaced(replaced(frame.page, "&", "&amp;"), "\"", "&quot;") +
              "\"></iframe>";
    }
    return page + "</body></html>";
  }

  // What kUse told, by the frames' names.
  json used(std::vector<Frame> frames) const {
    for (Frame& frame : frames) frame.page.insert(frame.page.rfind("</body>"), kUse);
    const std::string dom = chromium({"--dump-dom"}, framed(frames, kGather)).out;
    const std::string begin = "data-told=\"";
    const size_t at = dom.find(begin);
    EXPECT_NE(at, dom.npos) << dom.substr(0, 1000);
    if (at == dom.npos) return {};
    const size_t from = at + begin.size();
    return json::parse(unescaped(dom.substr(from, dom.find('"', from) - from)));
  }

  static std::string unescaped(const std::string& uri) {
    std::string text;
    for (size_t i = 0; i < uri.size(); ++i) {
      if (uri[i] != '%') {
        text += uri[i];
      } else {
        text += static_cast<char>(std::stoi(uri.substr(i + 1, 2), nullptr, 16));
        i += 2;
      }
    }
    return text;
  }

  TemporaryFolder folder_;
};

void expect_every_prompt(const json& told, const diff::Report& report) {
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

/// One prompt with as many values as a page keeps of one, which V8 takes in no call's arguments,
/// far behind the first position.
diff::Report made_long() {
  diff::Report report = made_match();
  diff::PromptReport& prompt = report.prompts[0];
  prompt.verdict = report.verdict = diff::Verdict::kDrift;
  for (diff::OpErrors& op : prompt.ops) {
    op.verdict = diff::Verdict::kDrift;
    op.n_bits_differ = 1;
    op.first_position = 4'000'000'000;
    op.introduced_by_row.assign(150'000 / prompt.ops.size() + 1, 1e-6);
    op.total_by_row.clear();
  }
  return report;
}

TEST_F(Browser, ShowsAllAndFitsNarrowScreens) {
  diff::Report nothing;
  nothing.is_empty = true;
  const std::string page = report::html_page(made_report());
  const std::string cost = report::quantisation_page(made_quantisation(true));
  const json told =
      used({{"wide", page, 1200, 1000},
            {"narrow", page, 500, 1000},
            {"match", report::html_page(made_match()), 1200, 1000},
            {"long", report::html_page(made_long()), 1200, 1000},
            {"nothing", report::html_page(nothing), 1200, 1000},
            {"cost", cost, 1200, 1000},
            {"cost_narrow", cost, 500, 1000},
            {"alone", report::quantisation_page(made_quantisation(false)), 500, 1000}});
  ASSERT_EQ(told.size(), 8u) << told;
  expect_every_prompt(told["wide"], made_report());
  EXPECT_EQ(told["match"]["banner"], "MATCH");
  EXPECT_EQ(told["match"]["prompts"][0]["plots"], 2)
      << "logits and ranks; there are no errors to draw";
  EXPECT_EQ(told["long"]["prompts"][0]["plots"], 4) << "and the errors, by op and by position";
  EXPECT_EQ(told["nothing"]["banner"], "NOTHING COMPARED");
  EXPECT_THAT(told["cost"]["prompts"][0]["sections"].get<std::vector<std::string>>(),
              testing::ElementsAre("perplexity", "kl", "delta-p", "agreement", "sides"));
  EXPECT_EQ(told["cost"]["prompts"][0]["plots"], 4);
  EXPECT_EQ(told["cost"]["tips"], 4);
  EXPECT_EQ(told["cost"]["title"], "plumb perplexity") << "a stranger's script ran";
  EXPECT_EQ(told["alone"]["prompts"][0]["plots"], 1);
  for (const auto& [name, frame] : told.items())
    EXPECT_EQ(frame["widest"], 0) << name << " scrolls sideways";
}

TEST_F(Browser, PaintsBothColourings) {
  // Different lines of pixels in each frame of a PNG, by another program.
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
rows = [data[i:i + row] for i in range(0, len(data), row)]
at = 0
for size in map(int, sys.argv[2:]):
    print(len(set(rows[at:at + size])))
    at += size
)py");
  const auto themed = [](const std::string& page, const char* theme) {
    return replaced(page, "<html lang", std::string("<html data-theme=\"") + theme + "\" lang");
  };
  const std::string page = report::html_page(made_report());
  const std::string cost = report::quantisation_page(made_quantisation(true));
  const std::string image = folder_.path("page.png");
  chromium({"--screenshot=" + image, "--window-size=1200,8800"},
           framed({{"light", themed(page, "light"), 1200, 3000},
                   {"dark", themed(page, "dark"), 1200, 3000},
                   {"cost_light", themed(cost, "light"), 1200, 1400},
                   {"cost_dark", themed(cost, "dark"), 1200, 1400}},
                  ""));
  const auto counted = os::run({"python3", lines, image, "3000", "3000", "1400", "1400"}, {});
  ASSERT_TRUE(counted && counted->code == 0) << counted->err;
  std::istringstream numbers(counted->out);
  for (const char* frame : {"light", "dark", "light page of costs", "dark page of costs"}) {
    int n = 0;
    numbers >> n;
    const int wanted = std::string(frame).size() > 5 ? 400 : 1000;
    EXPECT_GT(n, wanted) << frame << ": lines of text and plots";
  }
}

}  // namespace
}  // namespace plumbline::test
