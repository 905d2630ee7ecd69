#include "core/report/html_page.h"

#include "core/report/page_data.h"
#include "core/report/page_shell.h"
#include "core/report/page_text.h"

namespace plumbline::report {

std::string html_page(const diff::Report& report) {
  const std::string verdict = report.is_empty ? "nothing compared" : verdict_name(report.verdict);
  return page_with({.title = "plumb diff: " + verdict,
                    .without_script = "Verdict: " + verdict + ".",
                    .data = page_data(report),
                    .script = kDiffScript});
}

}  // namespace plumbline::report
