#include "core/diff/bisect.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/diff/bisect_prompt.h"

namespace plumbline::diff {
namespace {

using Json = nlohmann::ordered_json;

class Bisection {
 public:
  Bisection(Side& a, Side& b, const BisectRequest& request)
      : a_(a), b_(b), request_(request), choices_(a.config().tree, b.config().tree) {}

  Result<BisectReport> run();

 private:
  Result<void> find_symptom();
  Result<Outcome> try_mixture(const Subset& of_b);
  Result<void> find_shortest();
  Result<PromptReport> compare_one(Side& b, const DiffRequest& wanted);
  Result<Outcome> try_prompt(Side& b, const PromptInput& prompt, uint32_t n_steps);
  bool is_stopped() const { return was_cancelled_ || (request_.stop && request_.stop()); }

  Side& a_;
  Side& b_;
  const BisectRequest& request_;
  Choices choices_;
  DiffRequest one_;  // the prompt that shows it
  BisectReport report_;
  bool was_cancelled_ = false;
};

Result<void> Bisection::find_symptom() {
  PLUMB_ASSIGN(const Report whole, compare(a_, b_, request_.diff));
  const auto worst =
      std::find_if(whole.prompts.begin(), whole.prompts.end(),
                   [&](const PromptReport& prompt) { return prompt.verdict == whole.verdict; });
  if (worst == whole.prompts.end()) {
    report_.symptom.verdict = whole.verdict;
    report_.notes = whole.notes;
    if (whole.is_empty) report_.notes.emplace_back("nothing was compared");
    return {};
  }
  report_.symptom = symptom_of(*worst);
  report_.prompt_index = worst->index;
  report_.prompt = request_.diff.prompts[worst->index];
  report_.n_steps = request_.diff.n_steps;
  report_.shown = *worst;
  one_ = request_.diff;
  one_.prompts = {report_.prompt};
  report_.runs.push_back({all_of(choices_.size()), Outcome::kReproduces, report_.symptom.text()});
  if (request_.on_run) request_.on_run(report_.runs.back(), choices_.size());
  return {};
}

Result<PromptReport> Bisection::compare_one(Side& b, const DiffRequest& wanted) {
  auto report = compare(a_, b, wanted);
  if (!report) {
    was_cancelled_ |= report.error().code == PLUMB_CANCELLED;
    return std::move(report).error();
  }
  return std::move(report->prompts.front());
}

Result<Outcome> Bisection::try_mixture(const Subset& of_b) {
  BisectRun run{of_b, Outcome::kUnresolved, ""};
  const auto attempt = [&]() -> Result<Symptom> {
    PLUMB_ASSIGN(const config::ResolvedConfig mixed, choices_.mix(of_b));
    PLUMB_ASSIGN(const std::unique_ptr<OpenedSide> opened, request_.open(mixed));
    PLUMB_ASSIGN(const PromptReport seen, compare_one(opened->side(), one_));
    return symptom_of(seen);
  };
  if (const auto seen = attempt()) {
    run.outcome = *seen == report_.symptom ? Outcome::kReproduces : Outcome::kDiffers;
    run.seen = seen->text();
  } else {
    run.seen = seen.error().message;
  }
  report_.runs.push_back(run);
  if (request_.on_run) request_.on_run(run, choices_.size());
  return run.outcome;
}

Result<Outcome> Bisection::try_prompt(Side& b, const PromptInput& prompt, uint32_t n_steps) {
  DiffRequest wanted = one_;
  wanted.prompts = {prompt};
  wanted.n_steps = n_steps;
  auto seen = compare_one(b, wanted);
  const Outcome outcome = !seen                                  ? Outcome::kUnresolved
                          : symptom_of(*seen) == report_.symptom ? Outcome::kReproduces
                                                                 : Outcome::kDiffers;
  if (outcome == Outcome::kReproduces) report_.shown = *std::move(seen);
  if (request_.on_prompt_run) request_.on_prompt_run(prompt, outcome);
  return outcome;
}

// The culprits in A against A: fewer generated tokens first, since every later run gets shorter.
Result<void> Bisection::find_shortest() {
  PLUMB_ASSIGN(report_.mixture, choices_.mix(report_.culprits.items));
  if (request_.n_prompt_runs_max == 0) return {};
  const auto opened = request_.open(*report_.mixture);
  if (!opened) return opened.error();
  Side& mixed = (*opened)->side();
  const uint32_t at_step = report_.shown->place ? report_.shown->place->step : 0;
  for (const uint32_t n_steps : std::set<uint32_t>{0, 1, at_step, at_step + 1}) {
    if (n_steps >= report_.n_steps || is_stopped()) continue;
    ++report_.n_prompt_runs;
    PLUMB_ASSIGN(const Outcome outcome, try_prompt(mixed, report_.prompt, n_steps));
    if (outcome != Outcome::kReproduces) continue;
    report_.n_steps = n_steps;
    break;
  }
  const uint32_t n_left =
      request_.n_prompt_runs_max - std::min(request_.n_prompt_runs_max, report_.n_prompt_runs);
  PLUMB_ASSIGN(const ShortPrompt shortest, shorten(
                                               report_.prompt,
                                               [&](const PromptInput& prompt) {
                                                 return try_prompt(mixed, prompt, report_.n_steps);
                                               },
                                               n_left, [this] { return is_stopped(); }));
  report_.prompt = shortest.prompt;
  report_.n_prompt_runs += shortest.n_runs;
  report_.is_cut_short |= shortest.is_cut_short;
  return {};
}

Result<BisectReport> Bisection::run() {
  report_.choices = choices_.list();
  if (report_.choices.empty()) return std::move(report_);
  PLUMB_TRY(find_symptom());
  if (!report_.has_case()) return std::move(report_);
  Trials trials([this](const Subset& of_b) { return try_mixture(of_b); }, request_.n_runs_max);
  trials.stop_when([this] { return is_stopped(); });
  PLUMB_ASSIGN(report_.culprits, find_culprits(choices_.size(), trials));
  report_.culprits.is_minimal &= !was_cancelled_;
  report_.is_cut_short = trials.is_cut_short() || was_cancelled_;
  PLUMB_TRY(find_shortest());
  return std::move(report_);
}

}  // namespace

std::string Symptom::text() const {
  std::string text = verdict_name(verdict);
  if (door) text += std::string(" at ") + door_name(*door);
  if (!op.empty()) text += ", " + op;
  return text;
}

Symptom symptom_of(const PromptReport& prompt) {
  Symptom symptom{prompt.verdict, {}, ""};
  if (!prompt.place) return symptom;
  symptom.door = prompt.place->door;
  if (prompt.verdict == Verdict::kWrong && symptom.door == Door::kOps)
    symptom.op = prompt.place->op;
  return symptom;
}

Result<BisectReport> bisect(Side& a, Side& b, const BisectRequest& request) {
  return Bisection(a, b, request).run();
}

Json to_json(const PromptInput& prompt) {
  if (!prompt.ids.empty()) return {{"ids", prompt.ids}};
  if (!prompt.messages) return {{"text", prompt.text}};
  return prompt.messages->is_object() ? *prompt.messages : Json{{"messages", *prompt.messages}};
}

Json to_json(const BisectReport& report) {
  const auto shown = [&](const Choice& choice) {
    return Json{{"choice", choice.path}, {"a", choice.a}, {"b", choice.b}};
  };
  Json choices = Json::array(), culprits = Json::array(), runs = Json::array();
  for (const Choice& choice : report.choices) choices.push_back(shown(choice));
  for (const uint32_t item : report.culprits.items) culprits.push_back(shown(report.choices[item]));
  for (const BisectRun& run : report.runs) {
    runs.push_back(
        {{"choices_of_b", run.of_b}, {"outcome", outcome_name(run.outcome)}, {"seen", run.seen}});
  }
  return {{"symptom",
           {{"verdict", verdict_name(report.symptom.verdict)},
            {"door", report.symptom.door ? Json(door_name(*report.symptom.door)) : Json()},
            {"op", report.symptom.op}}},
          {"notes", report.notes},
          {"culprits", std::move(culprits)},
          {"is_minimal", report.culprits.is_minimal},
          {"fell_back_to_ddmin", report.culprits.fell_back},
          {"is_cut_short", report.is_cut_short},
          {"n_runs", report.runs.size()},
          {"choices", std::move(choices)},
          {"runs", std::move(runs)},
          {"prompt_index", report.prompt_index},
          {"prompt", to_json(report.prompt)},
          {"n_tokens", report.n_steps},
          {"n_prompt_runs", report.n_prompt_runs}};
}

}  // namespace plumbline::diff
