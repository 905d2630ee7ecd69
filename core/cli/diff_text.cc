#include "core/cli/diff_text.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <vector>

#include "core/cli/session.h"
#include "core/diff/logit_errors.h"
#include "core/diff/text_doors.h"

namespace plumbline::cli {
namespace {

using diff::Door;
using diff::LogitErrors;
using diff::OpErrors;
using diff::PromptReport;
using diff::Report;
using diff::Verdict;

constexpr size_t kColumns = 100;
constexpr size_t kWorstOps = 6;

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* pattern, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

/// at, or where the UTF-8 character around it begins: it has four bytes at most.
size_t character_start(std::string_view text, size_t at) {
  const auto is_inside = [&](size_t i) {
    return i > 0 && i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
  };
  for (int back = 0; back < 3 && is_inside(at); ++back) --at;
  return at;
}

std::string cut(std::string_view text, size_t columns) {
  std::string shown = printable(text);
  if (shown.size() > columns) shown = shown.substr(0, character_start(shown, columns - 3)) + "...";
  return shown;
}

// "  first   text", going on below the text where it is long.
std::string labelled(const char* label, std::string_view text) {
  constexpr size_t kIndent = 11;
  std::string out;
  std::string line = format("  %-*s", static_cast<int>(kIndent - 2), label);
  std::string shown = printable(text);
  for (size_t at = 0; at < shown.size();) {
    size_t end = std::min(at + kColumns - kIndent, shown.size());
    if (end < shown.size()) {
      const size_t space = std::string_view(shown).substr(at, end - at + 1).rfind(' ');
      const size_t start = character_start(shown, end);
      if (space != shown.npos && space > 0) {
        end = at + space;
      } else if (start > at) {
        end = start;
      }
    }
    out += line + shown.substr(at, end - at) + "\n";
    line = std::string(kIndent, ' ');
    at = end + (end < shown.size() && shown[end] == ' ' ? 1 : 0);
  }
  return out;
}

std::string scientific(std::optional<double> value) {
  return !value                   ? "-"
         : !std::isfinite(*value) ? "not finite"
         : *value == 0            ? "0"
                                  : format("%.1e", *value);
}

// The prompt to tell about: the first with the report's verdict.
const PromptReport* worst_prompt(const Report& report) {
  const auto found =
      std::find_if(report.prompts.begin(), report.prompts.end(),
                   [&](const PromptReport& prompt) { return prompt.verdict == report.verdict; });
  return found == report.prompts.end() ? nullptr : &*found;
}

std::string where(const diff::Place& place) {
  std::string text = std::string("door ") + diff::door_name(place.door);
  switch (place.door) {
    case Door::kPrompt:
    case Door::kBytes:
    case Door::kText:
      text += ", byte " + std::to_string(place.at);
      break;
    case Door::kTokens:
      text += ", index " + std::to_string(place.at) + " (bytes " +
              std::to_string(place.bytes_begin) + " to " + std::to_string(place.bytes_end) + ")";
      break;
    case Door::kOps:
      text += ", op " + place.op + ", position " + std::to_string(place.at);
      break;
    case Door::kLogits:
      text += ", position " + std::to_string(place.at);
      break;
    case Door::kPick:
      text += ", token " + std::to_string(place.at);
      break;
    case Door::kContext:
      text += ", message or row " + std::to_string(place.at);
      break;
  }
  if (place.step > 0 && place.door != Door::kPick)
    text += ", generated token " + std::to_string(place.step);
  return text;
}

// Of an op's introduced error, where the sides read other codes.
struct Part {
  const char* what;
  double error;
  std::optional<double> bound;
};

std::vector<Part> parts_of(const OpErrors::Split& split) {
  std::vector<Part> parts;
  if (split.weights > 0 || split.weights_bound > 0)
    parts.push_back({"by weights", split.weights, split.weights_bound});
  if (split.activations > 0 || split.activations_bound > 0)
    parts.push_back({"by activations", split.activations, split.activations_bound});
  parts.push_back({"by the kernels", split.arithmetic, split.arithmetic_bound});
  return parts;
}

// The first that is over its bound: what such an op is judged by.
std::optional<Part> part_over(const OpErrors& op) {
  if (!op.split) return std::nullopt;
  for (const Part& part : parts_of(*op.split)) {
    if (part.bound && !(part.error <= *part.bound)) return part;
  }
  return std::nullopt;
}

std::string errors_of(const OpErrors& op) {
  const std::optional<Part> over = part_over(op);
  std::string text =
      over ? std::string(over->what) + " " + scientific(over->error) +
                 " of the row's size, over its bound " + scientific(over->bound) + "; introduced " +
                 scientific(op.introduced_worst) + " (worst)"
           : "introduced " + scientific(op.introduced_worst) + " of the row's size (worst)";
  if (!op.budget) {
    text += "; no budget is known";
  } else if (*op.budget == 0) {
    text += "; equal bits are demanded, " + std::to_string(op.n_bits_differ) + " of " +
            std::to_string(op.n_values) + " values differ";
  } else {
    text += "; budget " + scientific(op.budget);
  }
  if (op.split) {
    for (const Part& part : parts_of(*op.split)) {
      if (over && part.what == over->what) continue;
      text += std::string("; ") + part.what + " " + scientific(part.error) + " of " +
              (part.bound ? scientific(*part.bound) : "an unknown level");
    }
  }
  if (op.inherited) text += "; inherited " + scientific(op.inherited);
  return text;
}

std::string logits_line(const LogitErrors& logits) {
  std::string text =
      format("%llu bits differ, KL %.2e, cosine %.6f, MAE/sigma %.2e, %u of 10 ranks",
             static_cast<unsigned long long>(logits.n_bits_differ), logits.kl, logits.cosine,
             logits.mean_absolute_by_sigma, logits.top_k_agree);
  text += "; gaps of the top change by up to " + format("%.2e", logits.gap_change) + " sigma";
  text += logits.noise ? format(", noise %.2e", *logits.noise) : ", no noise level is known";
  if (diff::rest_decides(logits)) {
    text += format("; those of the whole row by up to %.2e sigma, noise %.2e", logits.row_change,
                   *logits.row_noise);
  }
  return text;
}

// "top_k {"k":2} / none: leaves 2 and 40; in B alone 3 7 9 ..."
std::string stage_line(const diff::StageErrors& stage) {
  const auto or_none = [](const std::string& name) { return name.empty() ? "none" : name; };
  std::string text = stage.a == stage.b ? stage.a : or_none(stage.a) + " / " + or_none(stage.b);
  text += format(": leaves %u and %u", stage.n_kept_a, stage.n_kept_b);
  const auto add = [&](const char* side, const std::vector<int32_t>& ids, uint32_t n) {
    constexpr size_t kShown = 6;
    if (n == 0) return;
    text += std::string("; in ") + side + " alone";
    for (size_t i = 0; i < std::min(ids.size(), kShown); ++i) text += " " + std::to_string(ids[i]);
    if (n > kShown) text += " and " + std::to_string(n - kShown) + " more";
  };
  add("A", stage.only_a, stage.n_only_a);
  add("B", stage.only_b, stage.n_only_b);
  return text + (stage.differs && stage.n_only_a + stage.n_only_b == 0 ? "; logits differ" : "");
}

std::string place_lines(const PromptReport& prompt) {
  std::string out =
      labelled("where", where(*prompt.place) + ", prompt " + std::to_string(prompt.index + 1));
  out += labelled("A", prompt.place->seen_a);
  out += labelled("B", prompt.place->seen_b);
  for (const OpErrors& op : prompt.ops) {
    if (prompt.place->door == Door::kOps && op.op == prompt.place->op)
      out += labelled("error", errors_of(op));
  }
  const auto is_pick_at = [&](uint32_t step) {
    return prompt.place->door == Door::kPick && step == prompt.place->step;
  };
  // Picks that part though the stages do the same part by their logits.
  const bool by_logits =
      std::any_of(prompt.picks.begin(), prompt.picks.end(), [&](const diff::PickErrors& pick) {
        return is_pick_at(pick.step) && pick.verdict == Verdict::kMatch;
      });
  for (const LogitErrors& logits : prompt.logits) {
    if (prompt.place->door == Door::kLogits ? logits.position == prompt.place->at
                                            : by_logits && is_pick_at(logits.step))
      out += labelled("error", logits_line(logits));
  }
  for (const diff::PickErrors& pick : prompt.picks) {
    if (by_logits || !is_pick_at(pick.step)) continue;
    out += labelled("error", format("kept by both %u; total variation %.2e; picks differ under one "
                                    "coin with probability %.2e",
                                    pick.n_kept_both, pick.total_variation, pick.flip_probability));
    if (!pick.first_stage.empty())
      out += labelled("stage", "the candidates differ first after " + pick.first_stage);
    for (const diff::StageErrors& stage : pick.stages) out += labelled("", stage_line(stage));
  }
  return out;
}

std::string cause_lines(const PromptReport& prompt) {
  std::string out;
  if (prompt.cause && !prompt.cause->signature.empty()) {
    out += labelled("cause", prompt.cause->signature + ": " + prompt.cause->statement);
    if (!explains_place(prompt)) out += labelled("", "of " + where(prompt.cause->place));
    std::string also;
    for (const std::string& name : prompt.cause->also) also += (also.empty() ? "" : ", ") + name;
    if (!also.empty()) out += labelled("", "the same as far as can be told: " + also);
  } else if (prompt.place && prompt.place->door == Door::kOps &&
             prompt.verdict >= Verdict::kUnexplained) {
    out += labelled("cause", "the place is known, the cause is not");
  }
  for (const std::string& note : prompt.notes) out += labelled("note", note);
  for (const std::string& hint : prompt.hints) out += labelled("hint", hint);
  if (!prompt.failure_a.empty()) out += labelled("A failed", prompt.failure_a);
  if (!prompt.failure_b.empty()) out += labelled("B failed", prompt.failure_b);
  return out;
}

// Where each side ran on its own.
std::string texts(const PromptReport& prompt) {
  std::string out;
  if (prompt.text_a != prompt.text_b) {
    out += labelled("A writes", diff::quoted(prompt.text_a, 160));
    out += labelled("B writes", diff::quoted(prompt.text_b, 160));
  }
  if (prompt.bits_per_byte_a && prompt.bits_per_byte_b) {
    out += labelled("bits/byte", format("of the prompt's text: %.4f for A, %.4f for B",
                                        *prompt.bits_per_byte_a, *prompt.bits_per_byte_b));
  }
  return out;
}

// The ops that differ most, over all prompts; in units of their budgets where they have some.
std::string worst_ops(const Report& report) {
  std::vector<const OpErrors*> worst;
  size_t n_ops = 0, n_differ = 0;
  for (const PromptReport& prompt : report.prompts) {
    n_ops = std::max(n_ops, prompt.ops.size());
    size_t n_here = 0;
    for (const OpErrors& op : prompt.ops) {
      if (op.n_bits_differ == 0) continue;
      ++n_here;
      const auto same = std::find_if(worst.begin(), worst.end(),
                                     [&](const OpErrors* one) { return one->op == op.op; });
      if (same == worst.end()) {
        worst.push_back(&op);
      } else if (op.introduced_worst > (*same)->introduced_worst) {
        *same = &op;
      }
    }
    n_differ = std::max(n_differ, n_here);
  }
  if (n_ops == 0) return "";
  if (worst.empty()) return format("  all %zu ops give equal bits on A's inputs\n", n_ops);
  const auto size = [](const OpErrors* op) {
    return op->introduced_worst / (op->budget && *op->budget > 0 ? *op->budget : 1);
  };
  std::stable_sort(worst.begin(), worst.end(), [&](const OpErrors* x, const OpErrors* y) {
    return x->verdict != y->verdict ? x->verdict > y->verdict : size(x) > size(y);
  });
  std::string out = format("\n  %-12s %-26s %-10s %10s %10s %10s %9s\n", "worst ops", "", "kind",
                           "introduced", "budget", "inherited", "position");
  for (size_t i = 0; i < std::min(kWorstOps, worst.size()); ++i) {
    const OpErrors& op = *worst[i];
    const std::optional<Part> over = part_over(op);
    const std::string budget = op.budget && *op.budget == 0 ? "equal bits" : scientific(op.budget);
    out += format("  %-12s %-26s %-10s %10s %10s %10s %9u\n", diff::verdict_name(op.verdict),
                  cut(op.op, 26).c_str(), cut(op.kind, 10).c_str(),
                  scientific(over ? over->error : op.introduced_worst).c_str(),
                  over ? scientific(over->bound).c_str() : budget.c_str(),
                  scientific(op.inherited).c_str(), op.worst_position);
    if (over)
      out += format("  %-12s (%s; all introduced %s of %s)\n", "", over->what,
                    scientific(op.introduced_worst).c_str(), budget.c_str());
  }
  return out + format("  %zu of %zu ops differ\n", n_differ, n_ops);
}

// What no op's line tells of.
std::string not_compared_ops(const Report& report) {
  uint32_t only_a = 0, only_b = 0;
  uint64_t n_rows = 0;
  for (const PromptReport& prompt : report.prompts) {
    only_a = std::max(only_a, prompt.n_ops_only_a);
    only_b = std::max(only_b, prompt.n_ops_only_b);
    n_rows += prompt.n_rows_not_compared;
  }
  if (only_a == 0 && only_b == 0 && n_rows == 0) return "";
  return format("  not compared: %u ops of A alone, %u of B alone, %llu rows that one side lacks\n",
                only_a, only_b, static_cast<unsigned long long>(n_rows));
}

// One line for each door: its worst verdict, and what was compared.
std::string doors(const Report& report) {
  struct Line {
    size_t n = 0;
    Verdict verdict = Verdict::kMatch;
    std::string why_not;
  };
  const bool is_chained = report.mode == diff::Mode::kChained;
  constexpr size_t kDoors = static_cast<size_t>(Door::kContext) + 1;
  std::vector<Line> lines(kDoors);
  const auto add = [&](Door door, Verdict verdict) {
    Line& line = lines[static_cast<size_t>(door)];
    ++line.n;
    line.verdict = diff::worse(line.verdict, verdict);
  };
  for (const PromptReport& prompt : report.prompts) {
    for (const diff::ExactDoor& door : prompt.exact) {
      if (door.is_compared) add(door.door, door.verdict);
      if (!door.is_compared) lines[static_cast<size_t>(door.door)].why_not = door.why_not;
    }
    for (const OpErrors& op : prompt.ops) add(Door::kOps, op.verdict);
    for (const LogitErrors& logits : prompt.logits) add(Door::kLogits, logits.verdict);
    for (const diff::PickErrors& pick : prompt.picks) {
      // Chained picks are compared as a whole; the stages where they part are no second finding.
      Line& line = lines[static_cast<size_t>(Door::kPick)];
      if (is_chained) {
        line.verdict = diff::worse(line.verdict, pick.verdict);
      } else {
        add(Door::kPick, pick.verdict);
      }
    }
  }
  std::string out = "\n";
  for (size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    // Prompts whose contexts keep the same ids say nothing of them.
    if (i == static_cast<size_t>(Door::kContext) && line.n == 0) continue;
    const char* what = i == 2                 ? "ops"
                       : i == 3               ? "rows"
                       : i == 4 && is_chained ? "lists of picks"
                       : i == 4               ? "picks"
                       : i == 7               ? "contexts"
                                              : "texts";
    const std::string said = line.n > 0 ? format("%-12s %6zu %s", diff::verdict_name(line.verdict),
                                                 line.n, i == 1 ? "lists of ids" : what)
                             : line.why_not.empty() ? "not compared"
                                                    : "not compared: " + line.why_not;
    out += format("  %-10s ", diff::door_name(static_cast<Door>(i))) + cut(said, 80) + "\n";
  }
  return out;
}

}  // namespace

std::string diff_summary(const Report& report) {
  std::string out =
      std::string(report.is_empty ? "NOTHING COMPARED" : diff::verdict_name(report.verdict)) + "\n";
  out += labelled("A", report.a.config + "  (" + report.a.backend + ", " + report.a.numerics +
                           ", " + report.a.activations + ", " + report.a.weights + ")");
  out += labelled("B", report.b.config + "  (" + report.b.backend + ", " + report.b.numerics +
                           ", " + report.b.activations + ", " + report.b.weights + ")");
  for (const std::string& difference : report.differences) out += labelled("swapped", difference);
  out += labelled(
      "run", format("%s, %zu prompt%s, %.1f s", diff::mode_name(report.mode), report.prompts.size(),
                    report.prompts.size() == 1 ? "" : "s", report.seconds));
  const PromptReport* const worst = worst_prompt(report);
  if (worst != nullptr && worst->verdict != Verdict::kMatch) {
    out += "\n";
    if (worst->place) out += place_lines(*worst);
    out += cause_lines(*worst);
    out += texts(*worst);
    out += labelled("prompt", diff::quoted(worst->prompt, 80));
  }
  out += doors(report);
  out += worst_ops(report);
  out += not_compared_ops(report);
  for (const std::string& note : report.notes) out += labelled("note", note);
  return out;
}

}  // namespace plumbline::cli
