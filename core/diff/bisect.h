// bisect.h: which of the choices in which two configs differ make the difference that a diff shows.
// core/doc/bisect.md.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/diff/bisect_choices.h"
#include "core/diff/bisect_search.h"
#include "core/diff/engine.h"

namespace plumbline::diff {

/// What a comparison shows, and what must come out the same when it is shown again.
struct Symptom {
  Verdict verdict = Verdict::kMatch;
  std::optional<Door> door;  // where the sides part; absent: nowhere
  std::string op;  // of WRONG at door 20

  /// "WRONG at 20 ops, 3.attn_q_rope".
  std::string text() const;
  bool operator==(const Symptom&) const = default;
};
Symptom symptom_of(const PromptReport& prompt);

/// A config with everything that its side stands on.
class OpenedSide {
 public:
  virtual ~OpenedSide() = default;
  virtual Side& side() = 0;
};

struct BisectRun {
  Subset of_b;  // choices of B that were put into A
  Outcome outcome = Outcome::kDiffers;
  std::string seen;  // the symptom, or why it is unresolved
};

struct BisectRequest {
  DiffRequest diff;  // the prompts, and how they are compared
  /// Makes a mixture real. A failure of any kind leaves it unresolved.
  std::function<Result<std::unique_ptr<OpenedSide>>(const config::ResolvedConfig&)> open;
  uint32_t n_runs_max = UINT32_MAX;  // mixtures
  uint32_t n_prompt_runs_max = 100;  // to find the shortest prompt; 0: it stays as it is
  std::function<bool()> stop = {};  // true: ends with the best so far
  std::function<void(const BisectRun&, uint32_t n_choices)> on_run = {};
  std::function<void(const PromptInput&, Outcome)> on_prompt_run = {};
};

struct BisectReport {
  Symptom symptom;  // MATCH: A and B do not differ in outcome, and nothing else was looked for
  std::vector<Choice> choices;
  Culprits culprits;
  std::optional<config::ResolvedConfig> mixture;  // A with the culprits
  std::vector<BisectRun> runs;  // the first is that of A and B
  uint32_t prompt_index = 0;  // the first prompt that shows the symptom
  PromptInput prompt;  // the shortest that still shows it
  uint32_t n_steps = 0;  // generated tokens that it takes
  uint32_t n_prompt_runs = 0;
  std::optional<PromptReport> shown;  // the comparison of that prompt
  std::vector<std::string> notes;  // of a verdict that no prompt shows
  bool is_cut_short = false;  // a limit or a stop came first: fewer culprits may do

  /// Some prompt shows a difference; else nothing was searched for.
  bool has_case() const { return shown && symptom.verdict != Verdict::kMatch; }
};

/// The smallest set of choices of B that, put into A, shows the symptom of A and B: the same
/// verdict, at the same door, and where it is WRONG at door 20, at the same op. Then the shortest
/// prompt and the fewest generated tokens with which they still do. Equal configs are a MATCH
/// without a run. A verdict of the whole comparison that no prompt shows (the templates differ and
/// no prompt has messages) is told with the comparison's notes. Fails as compare does on A and B.
Result<BisectReport> bisect(Side& a, Side& b, const BisectRequest& request);

nlohmann::ordered_json to_json(const BisectReport& report);
/// What a prompt is given as: {"text"}, {"ids"} or a conversation.
nlohmann::ordered_json to_json(const PromptInput& prompt);

}  // namespace plumbline::diff
