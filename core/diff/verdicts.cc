#include "core/diff/verdicts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace plumbline::diff {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

uint32_t step_of(const PromptReport& prompt, uint32_t position) {
  const auto n_prompt = static_cast<uint32_t>(prompt.ids_a.size());
  return position + 1 - std::min(position + 1, n_prompt);
}

Place place_of(const PromptReport& prompt, const OpErrors& op) {
  Place place;
  place.door = Door::kOps;
  place.op = op.op;
  place.layer = op.layer;
  place.at = op.worst_position;
  if (op.example) {
    place.at = op.example->position;
    const std::string channel = "channel " + std::to_string(op.example->channel) + ": ";
    const bool is_any_finite = std::isfinite(op.example->a) || std::isfinite(op.example->b);
    const char* const also = is_any_finite ? "" : ", no finite number on either side";
    const auto seen = [&](std::optional<int32_t> held_at, float value) {
      return held_at ? "a row for position " + std::to_string(*held_at)
                     : channel + number(value) + also;
    };
    place.seen_a = seen(op.example->held_at_a, op.example->a);
    place.seen_b = seen(op.example->held_at_b, op.example->b);
  }
  place.step = step_of(prompt, op.example ? op.example->computed_at : op.worst_position);
  return place;
}

Place place_of(const LogitErrors& logits) {
  Place place;
  place.door = Door::kLogits;
  place.at = logits.position;
  place.step = logits.step;
  const auto top = [&](int32_t id) {
    const auto found = std::find_if(logits.top.begin(), logits.top.end(),
                                    [&](const LogitErrors::Top& one) { return one.id == id; });
    return found == logits.top.end() ? LogitErrors::Top{} : *found;
  };
  place.seen_a =
      "top id " + std::to_string(logits.top_a) + ", logit " + number(top(logits.top_a).a);
  place.seen_b =
      "top id " + std::to_string(logits.top_b) + ", logit " + number(top(logits.top_b).b);
  return place;
}

bool comes_before(const Place& x, const Place& y) {
  return x.door != y.door ? x.door < y.door : x.step < y.step;
}

// The one that the verdict is of; null: none is.
const Difference* deciding(const std::vector<Difference>& found, Verdict verdict) {
  const auto first = [&](auto&& fits) -> const Difference* {
    const auto at = std::find_if(found.begin(), found.end(), fits);
    return at == found.end() ? nullptr : &*at;
  };
  const Difference* decides =
      first([](const Difference& one) { return one.verdict >= Verdict::kUnexplained; });
  if (decides == nullptr) {  // logits that flip tell less than the pick that did
    decides = first([](const Difference& one) {
      return one.place.door == Door::kPick && one.verdict == Verdict::kTieFlip;
    });
  }
  if (decides == nullptr)
    decides = first([&](const Difference& one) { return one.verdict == verdict; });
  // A run that failed is worse than any difference in front of it.
  return decides == nullptr && !found.empty() ? &found.front() : decides;
}

bool is_empty(const PromptReport& prompt) {
  const bool has_exact = std::any_of(prompt.exact.begin(), prompt.exact.end(),
                                     [](const ExactDoor& door) { return door.is_compared; });
  const bool has_failed = !prompt.failure_a.empty() || !prompt.failure_b.empty();
  return !has_exact && !has_failed && prompt.ops.empty() && prompt.logits.empty() &&
         prompt.picks.empty();
}

Verdict of_parts(const PromptReport& prompt, const std::vector<Difference>& found) {
  Verdict verdict = Verdict::kMatch;
  for (const Difference& one : found) verdict = worse(verdict, one.verdict);
  if (prompt.failure_a.empty() != prompt.failure_b.empty()) return Verdict::kWrong;
  return prompt.failure_a.empty() ? verdict : worse(verdict, Verdict::kUnexplained);
}

bool is_empty(const Report& report) {
  return std::all_of(report.prompts.begin(), report.prompts.end(),
                     [](const PromptReport& prompt) { return is_empty(prompt); });
}

Verdict of_parts(const Report& report) {
  Verdict verdict = is_empty(report) ? Verdict::kUnexplained : Verdict::kMatch;
  for (const PromptReport& prompt : report.prompts) verdict = worse(verdict, prompt.verdict);
  return verdict;
}

// What the parts do not show (two models, a template that was not compared) is at most
// UNEXPLAINED.
Result<void> check_said(const std::string& where, Verdict said, Verdict parts) {
  if (said == parts || (said > parts && said <= Verdict::kUnexplained)) return {};
  return Error{PLUMB_CORRUPT, "report: " + where + ": found " + verdict_name(said) +
                                  ", expected what its parts come to, " + verdict_name(parts)};
}

}  // namespace

Place place_of(const PickErrors& pick) {
  Place place;
  place.door = Door::kPick;
  place.at = place.step = pick.step;
  const auto seen = [](int32_t id, uint32_t n_kept, const std::string& end) {
    return end.empty() ? "id " + std::to_string(id) + " of " + std::to_string(n_kept) + " kept"
                       : "no id: " + end;
  };
  place.seen_a = seen(pick.id_a, pick.n_kept_a, pick.end_a);
  place.seen_b = seen(pick.id_b, pick.n_kept_b, pick.end_b);
  return place;
}

std::vector<Difference> differences(const PromptReport& prompt) {
  std::vector<Difference> found;
  for (const ExactDoor& door : prompt.exact) {
    if (door.place) found.push_back({*door.place, door.verdict});
  }
  for (const OpErrors& op : prompt.ops) {
    if (op.verdict != Verdict::kMatch) found.push_back({place_of(prompt, op), op.verdict});
  }
  for (const LogitErrors& logits : prompt.logits) {
    if (logits.verdict != Verdict::kMatch) found.push_back({place_of(logits), logits.verdict});
  }
  for (const PickErrors& pick : prompt.picks) {
    if (pick.verdict != Verdict::kMatch) found.push_back({place_of(pick), pick.verdict});
  }
  std::stable_sort(found.begin(), found.end(), [](const Difference& x, const Difference& y) {
    return comes_before(x.place, y.place);
  });
  return found;
}

void add_cause(PromptReport& prompt, std::optional<Cause> cause) {
  if (!cause || (prompt.cause && !comes_before(cause->place, prompt.cause->place))) return;
  prompt.cause = std::move(cause);
}

void judge(PromptReport& prompt) {
  const std::vector<Difference> found = differences(prompt);
  prompt.verdict = worse(prompt.verdict, of_parts(prompt, found));
  if (const Difference* const one = deciding(found, prompt.verdict)) prompt.place = one->place;
}

void judge(Report& report) {
  report.is_empty = is_empty(report);
  report.verdict = worse(report.verdict, of_parts(report));
  bool lacks_level = false;
  for (const PromptReport& prompt : report.prompts) {
    for (const OpErrors& op : prompt.ops)
      lacks_level |= op.verdict == Verdict::kUnexplained && !op.budget;
    for (const LogitErrors& logits : prompt.logits)
      lacks_level |= logits.verdict == Verdict::kUnexplained && !logits.noise;
  }
  if (lacks_level) {
    report.notes.push_back("no noise level for this pair class (" + report.pair_class +
                           "): calibrate it (core/doc/noise.md)");
  }
}

Result<void> check_verdicts(const Report& report) {
  for (size_t i = 0; i < report.prompts.size(); ++i) {
    const PromptReport& prompt = report.prompts[i];
    const std::string where = "prompts[" + std::to_string(i) + "].";
    for (const ExactDoor& door : prompt.exact) {
      if (door.verdict != Verdict::kMatch && !door.place) {
        return Error{PLUMB_CORRUPT, "report: " + where + "exact: door " + door_name(door.door) +
                                        " is " + verdict_name(door.verdict) +
                                        " and says not where: expected a place"};
      }
    }
    PLUMB_TRY(check_said(where + "verdict", prompt.verdict, of_parts(prompt, differences(prompt))));
  }
  if (report.is_empty != is_empty(report)) {
    return Error{
        PLUMB_CORRUPT,
        std::string("report: is_empty: found ") + (report.is_empty ? "true" : "false") +
            (report.is_empty ? ", but something was compared" : ", but nothing was compared")};
  }
  return check_said("verdict", report.verdict, of_parts(report));
}

}  // namespace plumbline::diff
