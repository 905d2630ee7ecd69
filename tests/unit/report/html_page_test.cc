// The page, before a browser sees it. Oracle: HTML's rule for where a script element ends, and the
// report that went in. core/doc/reports.md tells how the page looks in a browser: browser_test.cc.
#include "core/report/html_page.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "core/diff/report_json.h"
#include "core/report/page_data.h"
#include "plumb/sdk/utf8.h"
#include "tests/support/made_report.h"

namespace plumbline::test {
namespace {

using nlohmann::json;

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++n;
  return n;
}

std::string data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"report\">";
  const size_t at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script>", at) - at);
}

TEST(HtmlPage, NothingBreaksOut) {
  const std::string page = report::html_page(made_report());
  // Two scripts are the page's own: the report, and what shows it.
  EXPECT_EQ(count(page, "<script"), 2u);
  EXPECT_EQ(count(page, "</script"), 2u);
  EXPECT_EQ(count(page, "<img"), 0u);
  EXPECT_EQ(data_of(page).find('<'), std::string::npos);
  EXPECT_TRUE(utf8::is_well_formed(page));
  const json data = json::parse(data_of(page));
  EXPECT_EQ(data["report"]["prompts"][2]["prompt"], utf8::to_lossy(kHostileText));
}

TEST(HtmlPage, NeedsNothingFromElsewhere) {
  const std::string page = report::html_page(made_report());
  const std::string style = page.substr(page.find("<style>"), page.find("</style>"));
  EXPECT_EQ(count(page, "<link"), 0u);
  EXPECT_EQ(count(page, " src="), 1u) << "the stranger's, inside the data";
  EXPECT_FALSE(
      std::regex_search(style.substr(0, style.find("</style>")), std::regex("@import|url\\(")));
  EXPECT_EQ(count(page, "http://"), 1u) << "the name of SVG, which is no address";
  EXPECT_EQ(count(page, "https://"), 0u);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(HtmlPage, HoldsTheReport) {
  const diff::Report made = made_match();
  const json data = json::parse(data_of(report::html_page(made)));
  const json expected =
      json::parse(diff::to_json(made).dump(-1, ' ', false, json::error_handler_t::replace));
  EXPECT_EQ(data["report"], expected);
  EXPECT_EQ(data["page"]["rows_per_column"], 1);
  EXPECT_EQ(data["page"]["summary"]["ops_equal"], made.prompts[0].ops.size());
}

TEST(HtmlPage, LargeReportsAreCut) {
  diff::Report large = made_report();
  const diff::PromptReport one = large.prompts[0], wrong = large.prompts[2];
  large.prompts.clear();
  for (uint32_t i = 0; i < 60; ++i) {
    large.prompts.push_back(i == 50 ? wrong : one);
    large.prompts.back().index = i;
    for (diff::OpErrors& op : large.prompts.back().ops) {
      op.introduced_by_row.assign(256, 1e-4);
      op.introduced_by_row[200] = 0.125;
      op.total_by_row = op.introduced_by_row;
    }
  }
  const auto data = report::page_data(large);
  const auto& detailed = data["page"]["detailed"];
  EXPECT_EQ(detailed.size(), report::kDetailedPrompts);
  EXPECT_THAT(detailed.get<std::vector<size_t>>(), testing::Contains(50u)) << "the worst";
  size_t n_cells = 0;
  for (const auto& prompt : data["report"]["prompts"]) {
    for (const auto& op : prompt["ops"])
      n_cells += op["introduced_by_row"].size() + op["total_by_row"].size();
  }
  // Each map rounds up to a whole column.
  EXPECT_LE(n_cells, report::kCellsMax + 2 * report::kDetailedPrompts * one.ops.size());
  EXPECT_GT(n_cells, report::kCellsMax / 4);
  const auto& row = data["report"]["prompts"][50]["ops"][7]["introduced_by_row"];
  const size_t per_column = data["page"]["rows_per_column"];
  EXPECT_GT(per_column, 1u);
  EXPECT_EQ(row[200 / per_column], 0.125) << "the largest of its group";
  EXPECT_TRUE(data["report"]["prompts"][59]["ops"].empty());
  EXPECT_EQ(data["page"]["summary"]["ops"], 60 * one.ops.size()) << "counted before the cut";
  EXPECT_LT(report::html_page(large).size(), 16u << 20);
}

TEST(HtmlPage, AnEmptyReportIsAPage) {
  diff::Report nothing;
  nothing.is_empty = true;
  const std::string page = report::html_page(nothing);
  EXPECT_NE(page.find("Verdict: nothing compared"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::test
