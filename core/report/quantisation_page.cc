#include "core/report/quantisation_page.h"

#include "core/diff/report_json.h"
#include "core/report/page_shell.h"
#include "core/report/page_text.h"

namespace plumbline::report {

nlohmann::ordered_json to_json(const QuantisationReport& report) {
  nlohmann::ordered_json json{{"text", report.text}, {"side_a", diff::to_json(report.a)}};
  if (report.b) json["side_b"] = diff::to_json(*report.b);
  json.update(diff::to_json(report.scores));
  return json;
}

std::string quantisation_page(const QuantisationReport& report) {
  return page_with({.title = "plumb perplexity",
                    .without_script = "Perplexity of a text.",
                    .data = to_json(report),
                    .script = kQuantisationScript});
}

}  // namespace plumbline::report
