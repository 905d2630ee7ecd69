#include "core/report/page_shell.h"

#include "core/report/page_text.h"

namespace plumbline::report {
namespace {

// In JSON these characters stand in texts alone, and may be written as numbers: then no text can
// end the script element or open another.
std::string inside_script(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '<':
        safe += "\\u003c";
        break;
      case '>':
        safe += "\\u003e";
        break;
      case '&':
        safe += "\\u0026";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string page_with(const PageParts& parts) {
  using Json = nlohmann::ordered_json;
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      // What the page does not ask for, it cannot be made to ask for.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
      "<title>";
  page += parts.title;
  page += "</title>\n<style>\n";
  page += kPageStyle;
  page += "</style>\n</head>\n<body>\n<noscript><p>";
  page += parts.without_script;
  page += " The details of this page need JavaScript.</p></noscript>\n<div id=\"page\"></div>\n";
  page += "<script type=\"application/json\" id=\"report\">";
  page += inside_script(parts.data.dump(-1, ' ', false, Json::error_handler_t::replace));
  page += "</script>\n<script>\n";
  page += parts.script;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace plumbline::report
