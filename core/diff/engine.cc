#include "core/diff/engine.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>
#include <string_view>
#include <utility>

#include "core/diff/bisect_choices.h"
#include "core/diff/chained.h"
#include "core/diff/comparable.h"
#include "core/diff/explain_text.h"
#include "core/diff/forced.h"
#include "core/diff/text_doors.h"
#include "core/diff/unseen_choices.h"
#include "core/diff/verdicts.h"
#include "core/diff/window_parting.h"

namespace plumbline::diff {
namespace {

Result<pipeline::Prompt> render(Side& side, const PromptInput& input, const DiffRequest& request) {
  if (!input.messages) return pipeline::Prompt{.bytes = input.text};
  return side.pipeline().render(*input.messages, {.now_unix_s = request.now_unix_s});
}

std::vector<std::string> pieces(Side& side, const std::vector<int32_t>& ids) {
  std::vector<std::string> found;
  const auto tokenizer = side.pipeline().tokenizer();
  if (!tokenizer) return found;
  for (const int32_t id : ids) {
    const auto piece = (*tokenizer)->piece(id, false);
    found.push_back(piece ? std::string(*piece) : std::string());
  }
  return found;
}

// One of the two cannot render or encode what the other can: that is the difference.
ExactDoor one_sided(Door door, const std::string& error_a, const std::string& error_b) {
  ExactDoor found;
  found.door = door;
  found.is_compared = true;
  found.verdict = Verdict::kWrong;
  Place place;
  place.door = door;
  place.seen_a = error_a.empty() ? "works" : "error: " + error_a;
  place.seen_b = error_b.empty() ? "works" : "error: " + error_b;
  found.place = std::move(place);
  return found;
}

// Doors 00 and 10; forced: B encodes A's bytes, else its own. False: there is nothing to run, the
// report says why.
Result<bool> prepare(Side& a, Side& b, const PromptInput& input, const DiffRequest& request,
                     bool is_forced, bool has_ids_in_common, PreparedPrompt& prompt,
                     PromptReport& report) {
  if (!input.ids.empty()) {
    if (!has_ids_in_common) {
      return Error{PLUMB_INVALID_ARGUMENT,
                   "the vocabularies differ, so no ids mean the same to both sides: give text"};
    }
    report.exact.push_back(not_compared(Door::kPrompt, "ids were given"));
    report.exact.push_back(not_compared(Door::kTokens, "ids were given"));
    prompt.encoding_a.ids = prompt.encoding_b.ids = input.ids;
    return true;
  }
  auto bytes_a = render(a, input, request);
  auto bytes_b = render(b, input, request);
  if (!bytes_a && !bytes_b) return of_side("A", std::move(bytes_a).error());
  if (!bytes_a || !bytes_b) {
    report.exact.push_back(one_sided(Door::kPrompt, bytes_a ? "" : bytes_a.error().message,
                                     bytes_b ? "" : bytes_b.error().message));
    return false;
  }
  prompt.bytes_a = bytes_a->bytes;
  report.exact.push_back(input.messages ? compare_prompts(*bytes_a, *bytes_b)
                                        : not_compared(Door::kPrompt, "a raw text was given"));
  auto ids_a = a.pipeline().encode_prompt(*bytes_a);
  auto ids_b = b.pipeline().encode_prompt(is_forced ? *bytes_a : *bytes_b);
  if (!ids_a && !ids_b) return of_side("A", std::move(ids_a).error());
  if (!ids_a || !ids_b) {
    report.exact.push_back(one_sided(Door::kTokens, ids_a ? "" : ids_a.error().message,
                                     ids_b ? "" : ids_b.error().message));
    return false;
  }
  if (has_ids_in_common) report.exact.push_back(compare_ids(*ids_a, *ids_b, bytes_a->bytes));
  prompt.encoding_a = *std::move(ids_a);
  prompt.encoding_b = *std::move(ids_b);
  return true;
}

// A foreign engine computes logits; the texts, ids and picks around it are this project's own on
// both sides. That they are equal tells nothing of the engine, but two configs may differ there.
void leave_out_own_doors(PromptReport& report, Mode mode) {
  constexpr const char* kWhy = "a foreign engine's own was not asked for";
  for (ExactDoor& door : report.exact) {
    const bool is_of_logits = mode == Mode::kChained && door.door == Door::kPick;
    if (door.is_compared && !door.place && !is_of_logits) door = not_compared(door.door, kWhy);
  }
  const size_t n = std::erase_if(
      report.picks, [](const PickErrors& one) { return one.verdict == Verdict::kMatch; });
  if (n > 0 && report.picks.empty() && mode == Mode::kForced)
    report.exact.push_back(not_compared(Door::kPick, kWhy));
}

std::string shown_prompt(const PromptInput& input) {
  if (!input.ids.empty()) {
    std::string shown;
    for (const int32_t id : input.ids) shown += (shown.empty() ? "" : ",") + std::to_string(id);
    return shown;
  }
  return input.messages
             ? input.messages->dump(-1, ' ', false, pipeline::OrderedJson::error_handler_t::replace)
             : input.text;
}

// A prompt on its way from doors 00 and 10 to the others.
struct Work {
  PreparedPrompt prompt;
  PromptReport report;
  bool can_run = false;
};

Result<void> check_ids(Side& side, const std::vector<int32_t>& ids, uint32_t n_steps) {
  if (ids.empty()) return Error{PLUMB_INVALID_ARGUMENT, "it has no ids: expected at least one"};
  const uint32_t n_vocab = side.hyper_parameters().n_vocab;
  const auto outside = std::ranges::find_if(
      ids, [&](int32_t id) { return id < 0 || static_cast<uint32_t>(id) >= n_vocab; });
  if (outside != ids.end()) {
    return Error{PLUMB_INVALID_ARGUMENT, "id " + std::to_string(*outside) +
                                             " is outside the vocabulary of " +
                                             std::to_string(n_vocab)};
  }
  if (side.decoder() == nullptr) return {};
  // The last token that is picked is not run.
  const uint64_t n_rows = ids.size() + uint64_t{std::max(n_steps, 1u)} - 1;
  const uint32_t capacity = side.decoder()->capacity_rows();
  if (n_rows <= capacity || side.decoder()->sequence().window().evicts()) return {};
  return Error{PLUMB_INVALID_ARGUMENT,
               std::to_string(ids.size()) + " ids and " + std::to_string(n_steps) +
                   " generated tokens need " + std::to_string(n_rows) +
                   " rows, and the context has " + std::to_string(capacity) +
                   ": give a shorter prompt, fewer tokens, or a larger context.length"};
}

// All that can be known of a prompt before anything runs.
Result<Work> begin(Side& a, Side& b, const PromptInput& input, const DiffRequest& request,
                   bool is_forced, bool has_ids_in_common) {
  Work work;
  work.report.prompt = shown_prompt(input);
  PLUMB_ASSIGN(work.can_run, prepare(a, b, input, request, is_forced, has_ids_in_common,
                                     work.prompt, work.report));
  work.report.ids_a = work.prompt.encoding_a.ids;
  work.report.ids_b = work.prompt.encoding_b.ids;
  work.report.pieces_a = pieces(a, work.report.ids_a);
  work.report.pieces_b = pieces(b, work.report.ids_b);
  if (!work.can_run) return work;
  const auto check = [&](const char* name, Side& side,
                         const std::vector<int32_t>& ids) -> Result<void> {
    if (auto checked = check_ids(side, ids, request.n_steps); !checked)
      return of_side(name, std::move(checked).error());
    return {};
  };
  PLUMB_TRY(check("A", a, work.report.ids_a));
  // Forced, B runs on A's ids, whatever its own are.
  PLUMB_TRY(check("B", b, is_forced ? work.report.ids_a : work.report.ids_b));
  return work;
}

// Where the ids that the two contexts hold part, as far as the prompt and the wanted tokens go.
// What runs behind it runs on other rows: request is cut there, and the prompt may not run at all.
std::optional<WindowParting> cut_at_parting(Side& a, Side& b, Work& work, DiffRequest& request) {
  const model::Decoder *const of_a = a.decoder(), *const of_b = b.decoder();
  const uint64_t n_prompt = work.prompt.encoding_a.ids.size();
  if (!work.can_run || of_a == nullptr || of_b == nullptr ||
      n_prompt != work.prompt.encoding_b.ids.size())
    return std::nullopt;
  auto parting =
      parting_of_windows(*of_a, *of_b, n_prompt + std::max<uint64_t>(request.n_steps, 1) - 1);
  if (!parting) return std::nullopt;
  work.can_run = parting->n_fed >= n_prompt;
  if (work.can_run) request.n_steps = static_cast<uint32_t>(parting->n_fed - n_prompt) + 1;
  return parting;
}

// Door 70. step: tokens that were generated before.
void add_parting(const WindowParting& parting, uint32_t step, PromptReport& report) {
  Place place;
  place.door = Door::kContext;
  place.at = parting.row;
  place.step = step;
  place.seen_a = parting.a;
  place.seen_b = parting.b;
  ExactDoor door;
  door.door = Door::kContext;
  door.is_compared = true;
  door.size_a = door.size_b = parting.n_fed + 1;
  door.place = place;
  door.verdict = Verdict::kWrong;
  report.exact.push_back(std::move(door));
  Cause cause;
  cause.signature = "context_policy";
  cause.statement =
      "B's context keeps other ids than A's, as context.policy, context.length, "
      "context.sinks or context.evict_to say";
  cause.plain = 1;
  cause.place = std::move(place);
  add_cause(report, std::move(cause));
  report.notes.emplace_back("what runs behind the id at which the contexts part was not compared");
}

void add_compared(const PromptReport& prompt, std::set<Door>& compared) {
  for (const ExactDoor& door : prompt.exact) {
    if (door.is_compared) compared.insert(door.door);
  }
  if (!prompt.picks.empty()) compared.insert(Door::kPick);
}

// A choice that no door looked at is no match.
void judge_unseen(Side& a, Side& b, const std::vector<Choice>& choices,
                  const std::set<Door>& compared, bool has_ids_in_common,
                  const DiffRequest& request, Report& report) {
  const bool has_messages = std::ranges::any_of(
      request.prompts, [](const PromptInput& input) { return input.messages.has_value(); });
  if (!has_messages && templates_differ(a, b)) {
    report.notes.emplace_back(
        "the chat templates differ, and were not compared: no prompt has messages");
    report.verdict = worse(report.verdict, Verdict::kUnexplained);
  }
  // Without, that was said already, and it is DRIFT at best.
  if (has_ids_in_common) judge_unseen_choices(choices, compared, request.seed, report);
}

}  // namespace

Result<Report> compare(Side& a, Side& b, const DiffRequest& request, const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  Report report;
  report.a = a.identity();
  report.b = b.identity();
  report.mode = request.mode;
  const Choices choices(a.config().tree, b.config().tree);
  report.differences = choices.shown();
  report.pair_class = a.numerics().text() + " | " + b.numerics().text();
  report.noise_source = request.noise != nullptr ? request.noise->source() : "";
  PLUMB_ASSIGN(const std::string vocabulary_a, a.vocabulary_sha256());
  PLUMB_ASSIGN(const std::string vocabulary_b, b.vocabulary_sha256());
  const bool has_ids_in_common = vocabulary_a == vocabulary_b;
  if (has_ids_in_common) {
    PLUMB_TRY(check_fit(a, b));
  } else {
    report.notes.push_back(
        "the vocabularies differ, so the sides have no ids in common: each ran on its own, and "
        "doors 10 to 50 were not compared");
  }
  const bool is_forced = request.mode == Mode::kForced && has_ids_in_common;
  if (is_forced && b.identity().is_runner) {
    return Error{PLUMB_UNSUPPORTED,
                 "B is a foreign engine, whose ops cannot be run on A's inputs: make it A, or "
                 "compare in chained mode"};
  }
  const auto named = [](size_t index, Error error) {
    return std::move(error).at("prompt " + std::to_string(index + 1));
  };
  std::vector<Work> all;
  for (const PromptInput& input : request.prompts) {
    auto work = begin(a, b, input, request, is_forced, has_ids_in_common);
    if (!work) return named(all.size(), std::move(work).error());
    work->report.index = static_cast<uint32_t>(all.size());
    all.push_back(*std::move(work));
  }
  std::set<Door> compared;
  for (Work& work : all) {
    PromptReport& found = work.report;
    const Progress say = [&](const std::string& what) {
      if (progress) {
        progress("prompt " + std::to_string(found.index + 1) + " of " + std::to_string(all.size()) +
                 ": " + what);
      }
    };
    add_cause(found, explain_prompt(a, b, request.prompts[found.index], request, found));
    DiffRequest as_far = request;
    const auto parting = has_ids_in_common ? cut_at_parting(a, b, work, as_far) : std::nullopt;
    if (parting && !work.can_run) add_parting(*parting, 0, found);
    if (work.can_run) {
      const auto run = is_forced           ? compare_forced
                       : has_ids_in_common ? compare_chained
                                           : compare_texts;
      const auto goes_on = run(a, b, work.prompt, as_far, say, found);
      if (!goes_on) return named(found.index, goes_on.error());
      if (parting && *goes_on) add_parting(*parting, as_far.n_steps, found);
    }
    add_compared(found, compared);
    if (a.identity().is_runner || b.identity().is_runner) leave_out_own_doors(found, request.mode);
    judge(found);
    report.prompts.push_back(std::move(found));
  }
  if (!request.prompts.empty())
    judge_unseen(a, b, choices.list(), compared, has_ids_in_common, request, report);
  if (a.has_observer_effect() || b.has_observer_effect())
    report.verdict = worse(report.verdict, Verdict::kUnexplained);
  for (const Side* side : {&a, &b})
    report.notes.insert(report.notes.end(), side->notes().begin(), side->notes().end());
  judge(report);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  report.seconds = spent.count();
  return report;
}

}  // namespace plumbline::diff
