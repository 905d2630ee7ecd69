#include "core/diff/engine.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "core/diff/bisect_choices.h"
#include "core/diff/chained.h"
#include "core/diff/comparable.h"
#include "core/diff/explain_text.h"
#include "core/diff/forced.h"
#include "core/diff/text_doors.h"
#include "core/diff/verdicts.h"

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
  report.exact.push_back(input.messages
                             ? compare_bytes(Door::kPrompt, bytes_a->bytes, bytes_b->bytes)
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

}  // namespace

Result<Report> compare(Side& a, Side& b, const DiffRequest& request, const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  Report report;
  report.a = a.identity();
  report.b = b.identity();
  report.mode = request.mode;
  const Choices choices(a.config().tree, b.config().tree);
  for (const Choice& choice : choices.list()) {
    const auto or_none = [](const std::string& value) { return value.empty() ? "none" : value; };
    report.differences.push_back(choice.path + ": " + or_none(choice.a) + " -> " +
                                 or_none(choice.b));
  }
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
  for (size_t index = 0; index < request.prompts.size(); ++index) {
    const PromptInput& input = request.prompts[index];
    PromptReport found;
    found.index = static_cast<uint32_t>(index);
    found.prompt = shown_prompt(input);
    const Progress say = [&](const std::string& what) {
      if (progress) {
        progress("prompt " + std::to_string(index + 1) + " of " +
                 std::to_string(request.prompts.size()) + ": " + what);
      }
    };
    PreparedPrompt prompt;
    if (!has_ids_in_common && !input.ids.empty()) {
      return Error{PLUMB_INVALID_ARGUMENT,
                   "the vocabularies differ, so no ids mean the same to both sides: give text"};
    }
    PLUMB_ASSIGN(const bool can_run,
                 prepare(a, b, input, request, is_forced, has_ids_in_common, prompt, found));
    found.ids_a = prompt.encoding_a.ids;
    found.ids_b = prompt.encoding_b.ids;
    found.pieces_a = pieces(a, found.ids_a);
    found.pieces_b = pieces(b, found.ids_b);
    add_cause(found, explain_prompt(a, b, input, request, found));
    if (can_run) {
      const auto run = is_forced           ? compare_forced
                       : has_ids_in_common ? compare_chained
                                           : compare_texts;
      PLUMB_TRY(run(a, b, prompt, request, say, found));
    }
    if (a.identity().is_runner || b.identity().is_runner) leave_out_own_doors(found, request.mode);
    judge(found);
    report.prompts.push_back(std::move(found));
  }
  const bool has_messages = std::ranges::any_of(
      request.prompts, [](const PromptInput& input) { return input.messages.has_value(); });
  if (!request.prompts.empty() && !has_messages && templates_differ(a, b)) {
    report.notes.push_back(
        "the chat templates differ, and were not compared: no prompt has messages");
    report.verdict = worse(report.verdict, Verdict::kUnexplained);
  }
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
