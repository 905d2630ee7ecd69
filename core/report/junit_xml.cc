#include "core/report/junit_xml.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "core/diff/logit_errors.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::report {
namespace {

using diff::Door;
using diff::PromptReport;
using diff::Verdict;

constexpr Door kDoors[] = {Door::kPrompt, Door::kTokens, Door::kOps,  Door::kLogits,
                           Door::kPick,   Door::kBytes,  Door::kText, Door::kContext};

// XML 1.0, section 2.2: what a document may hold at all; the rest cannot even be escaped.
bool is_in_xml(char32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0xD7FF) ||
         (c >= 0xE000 && c <= 0xFFFD) || c >= 0x10000;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (size_t at = 0; at < text.size();) {
    const utf8::Decoded c = utf8::decode(text, at);
    const std::string_view bytes = text.substr(at, c.n_bytes);
    at += c.n_bytes;
    if (c.form != utf8::Form::kWellFormed || !is_in_xml(c.code_point)) {
      safe += "\xEF\xBF\xBD";  // U+FFFD
    } else if (bytes == "&") {
      safe += "&amp;";
    } else if (bytes == "<") {
      safe += "&lt;";
    } else if (bytes == ">") {
      safe += "&gt;";
    } else if (bytes == "\"") {
      safe += "&quot;";
    } else if (c.code_point < 0x20) {
      safe += "&#" + std::to_string(static_cast<uint32_t>(c.code_point)) + ";";
    } else {
      safe += bytes;
    }
  }
  return safe;
}

std::string attribute(const char* name, std::string_view value) {
  return " " + std::string(name) + "=\"" + escaped(value) + "\"";
}

/// How one door of one prompt ended.
struct DoorResult {
  std::optional<Verdict> verdict;  // absent: not compared
  std::string detail;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string shown(const diff::Place& place) {
  std::string text = std::string("door ") + door_name(place.door);
  if (!place.op.empty()) text += ", op " + place.op;
  text += ", at " + std::to_string(place.at);
  if (place.step > 0) text += ", step " + std::to_string(place.step);
  if (!place.seen_a.empty() || !place.seen_b.empty())
    text += "\nA: " + place.seen_a + "\nB: " + place.seen_b;
  return text;
}

template <typename Part, typename Tell>
void worst_of(const std::vector<Part>& parts, DoorResult& result, const Tell& tell) {
  for (const Part& part : parts) {
    if (!result.verdict || part.verdict > *result.verdict) {
      result.verdict = part.verdict;
      result.detail = tell(part);
    }
  }
}

DoorResult result_of(const PromptReport& prompt, Door door) {
  DoorResult result{std::nullopt, "the door was not compared"};
  for (const diff::ExactDoor& exact : prompt.exact) {
    if (exact.door != door) continue;
    if (!exact.is_compared) return {std::nullopt, exact.why_not};
    return {exact.verdict, exact.place ? shown(*exact.place) : ""};
  }
  if (door == Door::kOps) {
    worst_of(prompt.ops, result, [](const diff::OpErrors& op) {
      std::string text = "op " + op.op + ": introduced " + number(op.introduced_worst) +
                         " at position " + std::to_string(op.worst_position);
      if (op.budget) text += ", budget " + number(*op.budget);
      return text;
    });
  } else if (door == Door::kLogits) {
    worst_of(prompt.logits, result, [](const diff::LogitErrors& logits) {
      const bool is_row = diff::rest_decides(logits);
      const std::optional<double> noise = is_row ? logits.row_noise : logits.noise;
      return "position " + std::to_string(logits.position) + ": gaps " +
             (is_row ? "of the whole row " : "") + "change by " +
             number(is_row ? logits.row_change : logits.gap_change) + " sigma" +
             (noise ? ", noise " + number(*noise) : "") + ", KL " + number(logits.kl) + " nats";
    });
  } else if (door == Door::kPick) {
    worst_of(prompt.picks, result, [](const diff::PickErrors& pick) {
      return "step " + std::to_string(pick.step) + ": ids " + std::to_string(pick.id_a) + " and " +
             std::to_string(pick.id_b);
    });
  }
  return result;
}

/// Only a conversation goes through that door.
bool has_context(const PromptReport& prompt) {
  return std::ranges::any_of(
      prompt.exact, [](const diff::ExactDoor& exact) { return exact.door == Door::kContext; });
}

std::string why(const PromptReport& prompt) {
  std::string text;
  if (prompt.place) text += "\nfirst: " + shown(*prompt.place);
  if (prompt.cause && !prompt.cause->signature.empty())
    text += "\ncause: " + prompt.cause->statement + " (" + prompt.cause->signature + ")" +
            (explains_place(prompt) ? "" : ", of " + shown(prompt.cause->place));
  for (const std::string& note : prompt.notes) text += "\nnote: " + note;
  for (const std::string& hint : prompt.hints) text += "\nhint: " + hint;
  if (!prompt.failure_a.empty()) text += "\nA: " + prompt.failure_a;
  if (!prompt.failure_b.empty()) text += "\nB: " + prompt.failure_b;
  return text;
}

class Suite {
 public:
  Suite(const PromptReport& prompt, Verdict worst_allowed)
      : name_("prompt " + std::to_string(prompt.index)),
        shown_(prompt.prompt),
        why_(why(prompt)),
        worst_allowed_(worst_allowed) {
    for (const Door door : kDoors) {
      if (door == Door::kContext && !has_context(prompt)) continue;
      add(door_name(door), result_of(prompt, door));
    }
    // A run that ended with an error may have no door to blame.
    if (prompt.verdict > worst_allowed_ && n_failures_ == 0) add("verdict", {prompt.verdict, ""});
  }
  /// Of the whole report, whose verdict is worse than every prompt's.
  Suite(const diff::Report& report, Verdict worst_allowed)
      : name_("comparison"), worst_allowed_(worst_allowed) {
    std::string notes;
    for (const std::string& note : report.notes) notes += (notes.empty() ? "" : "; ") + note;
    add("verdict", {report.verdict, notes});
  }

  size_t n_cases() const { return n_cases_; }
  size_t n_failures() const { return n_failures_; }
  size_t n_skipped() const { return n_skipped_; }
  std::string xml() const {
    return "  <testsuite" + attribute("name", name_) +
           attribute("tests", std::to_string(n_cases_)) +
           attribute("failures", std::to_string(n_failures_)) + attribute("errors", "0") +
           attribute("skipped", std::to_string(n_skipped_)) + ">\n" + cases_ + "    <system-out>" +
           escaped(shown_) + "</system-out>\n  </testsuite>\n";
  }

 private:
  void add(const std::string& door, const DoorResult& result) {
    ++n_cases_;
    cases_ += "    <testcase" + attribute("classname", "plumb.diff." + name_) +
              attribute("name", door) + attribute("time", "0");
    if (!result.verdict) {
      ++n_skipped_;
      cases_ += "><skipped" + attribute("message", result.detail) + "/></testcase>\n";
    } else if (*result.verdict > worst_allowed_) {
      ++n_failures_;
      const std::string verdict = verdict_name(*result.verdict);
      cases_ +=
          ">\n      <failure" + attribute("type", verdict) +
          attribute("message", verdict + (result.detail.empty() ? "" : ": " + result.detail)) +
          ">" + escaped(result.detail + why_) + "</failure>\n    </testcase>\n";
    } else {
      cases_ += "/>\n";
    }
  }

  std::string name_, shown_, why_, cases_;
  Verdict worst_allowed_;
  size_t n_cases_ = 0, n_failures_ = 0, n_skipped_ = 0;
};

}  // namespace

std::string junit_xml(const diff::Report& report, Verdict worst_allowed) {
  std::string suites;
  size_t n_cases = 0, n_failures = 0, n_skipped = 0, n_errors = 0;
  const auto add = [&](const Suite& suite) {
    n_cases += suite.n_cases();
    n_failures += suite.n_failures();
    n_skipped += suite.n_skipped();
    suites += suite.xml();
  };
  Verdict of_prompts = Verdict::kMatch;
  for (const PromptReport& prompt : report.prompts) {
    add(Suite(prompt, worst_allowed));
    of_prompts = worse(of_prompts, prompt.verdict);
  }
  if (report.verdict > of_prompts) add(Suite(report, worst_allowed));
  if (report.is_empty) {
    n_cases = n_errors = 1;
    suites =
        "  <testsuite name=\"plumb diff\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n"
        "    <testcase classname=\"plumb.diff\" name=\"comparison\" time=\"0\"><error "
        "message=\"nothing was compared\"/></testcase>\n  </testsuite>\n";
    n_failures = n_skipped = 0;
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" +
         attribute("name", "plumb diff: " + report.a.config + " against " + report.b.config) +
         attribute("tests", std::to_string(n_cases)) +
         attribute("failures", std::to_string(n_failures)) +
         attribute("errors", std::to_string(n_errors)) +
         attribute("skipped", std::to_string(n_skipped)) +
         attribute("time", number(report.seconds)) + ">\n" + suites + "</testsuites>\n";
}

}  // namespace plumbline::report
