#include "core/diff/text_signatures/samplers.h"

#include <algorithm>
#include <array>

#include "core/diff/text_signatures/diagnose.h"

namespace plumbline::diff {
namespace {

using config::StageConfig;
using Stages = std::vector<StageConfig>;

constexpr std::array kTruncations = {"top_k",       "top_p", "min_p", "typical",
                                     "top_n_sigma", "xtc",   "cap"};
constexpr std::array kPenalties = {"frequency", "presence", "repetition", "dry"};
constexpr std::array kTemperatures = {"temperature", "dynamic_temperature"};
// Of the draws those that need no parameters.
constexpr std::array kPlainDraws = {"greedy", "cdf", "gumbel", "xorshift64"};

bool is_one_of(std::string_view stage, const auto& names) {
  return std::ranges::find(names, stage) != names.end();
}

// The same draw with another generator of coins.
bool is_other_generator(std::string_view one, std::string_view other) {
  return (one == "cdf" && other == "xorshift64") || (one == "xorshift64" && other == "cdf");
}

std::ptrdiff_t offset(size_t index) {
  return static_cast<std::ptrdiff_t>(index);
}

class ListHypotheses {
 public:
  ListHypotheses(const SamplerEvidence& evidence, SamplerHypotheses& out)
      : evidence_(evidence), out_(out), stages_(evidence.sampling_a.stages) {}

  void add_all() {
    for (size_t i = 0; i < stages_.size(); ++i) {
      add_missing(i);
      add_moved(i);
      add_parameter(i);
    }
    add_draw();
    add_more();
  }

 private:
  void add(const char* signature, std::string statement, const Stages& stages) {
    config::SamplingConfig changed = evidence_.sampling_a;
    changed.stages = stages;
    out_.push_back(
        config_hypothesis(evidence_, signature, std::move(statement), std::move(changed)));
  }

  void add_missing(size_t i) {
    Stages fewer = stages_;
    fewer.erase(fewer.begin() + offset(i));
    add("stage_missing", "B lacks A's stage " + stages_[i].stage, fewer);
  }

  // Behind a draw nothing counts.
  void add_moved(size_t i) {
    if (is_draw(stages_[i].stage)) return;
    for (size_t to = 0; to < stages_.size(); ++to) {
      if (to == i || is_draw(stages_[to].stage)) continue;
      Stages moved = stages_;
      moved.erase(moved.begin() + offset(i));
      moved.insert(moved.begin() + offset(to), stages_[i]);
      const std::string how = stages_[i].stage + (to < i ? " before " : " behind ") +
                              stages_[to].stage + ", A the other way round";
      add_special_move(i, to, how, moved);
      add("stage_order_changed", "B has " + how, moved);
    }
  }

  // Moves that have a name of their own: what passes a truncation.
  void add_special_move(size_t i, size_t to, const std::string& how, const Stages& moved) {
    const auto first = stages_.begin() + offset(std::min(i, to));
    const auto end = stages_.begin() + offset(std::max(i, to)) + 1;
    if (std::none_of(first, end, [](const StageConfig& one) { return is_truncation(one.stage); }))
      return;
    const bool is_earlier = to < i;
    if (is_temperature(stages_[i].stage)) {
      add(is_earlier ? "temperature_before_truncation" : "temperature_behind_truncation",
          std::string(is_earlier ? "B truncates what the temperature has reshaped, A the model's "
                                   "own distribution"
                                 : "B truncates the model's own distribution, A what the "
                                   "temperature has reshaped") +
              ": B has " + how,
          moved);
    } else if (is_penalty(stages_[i].stage)) {
      add(is_earlier ? "penalty_before_truncation" : "penalty_behind_truncation",
          std::string(is_earlier ? "B truncates what a penalty has changed, A the logits before it"
                                 : "B penalises what a truncation has left, A all that it will "
                                   "truncate") +
              ": B has " + how,
          moved);
    }
  }

  void add_parameter(size_t i) {
    for (const StageConfig& theirs : evidence_.sampling_b.stages) {
      if (theirs.stage != stages_[i].stage || theirs.params_json == stages_[i].params_json)
        continue;
      Stages changed = stages_;
      changed[i].params_json = theirs.params_json;
      add("parameter_changed",
          "B has " + theirs.stage + " with " + theirs.params_json + ", A with " +
              stages_[i].params_json,
          changed);
    }
  }

  void add_draw() {
    if (stages_.empty() || !is_draw(stages_.back().stage)) return;
    const auto drawn_by = [&](const StageConfig& draw) {
      const std::string& own = stages_.back().stage;
      if (own == draw.stage) return;
      Stages changed = stages_;
      changed.back() = draw;
      add(is_other_generator(own, draw.stage) ? "generator_changed" : "draw_changed",
          "B draws by " + draw.stage + ", A by " + own, changed);
    };
    for (const char* draw : kPlainDraws) drawn_by({draw, config::kAuto, "{}"});
    if (evidence_.sampling_b.stages.empty()) return;
    const StageConfig& theirs = evidence_.sampling_b.stages.back();
    if (is_draw(theirs.stage) && !is_one_of(theirs.stage, kPlainDraws)) drawn_by(theirs);
  }

  void add_more() {
    for (const StageConfig& theirs : evidence_.sampling_b.stages) {
      if (is_draw(theirs.stage) ||
          std::ranges::any_of(stages_, [&](const auto& own) { return own.stage == theirs.stage; }))
        continue;
      for (size_t to = 0; to < stages_.size(); ++to) {
        Stages more = stages_;
        more.insert(more.begin() + offset(to), theirs);
        add("stage_added", "B has a stage more, " + theirs.stage + " before " + stages_[to].stage,
            more);
      }
    }
  }

  const SamplerEvidence& evidence_;
  SamplerHypotheses& out_;
  const Stages stages_;
};

}  // namespace

bool is_truncation(std::string_view stage) {
  return is_one_of(stage, kTruncations);
}
bool is_penalty(std::string_view stage) {
  return is_one_of(stage, kPenalties);
}
bool is_temperature(std::string_view stage) {
  return is_one_of(stage, kTemperatures);
}
bool is_draw(std::string_view stage) {
  return is_one_of(stage, kPlainDraws) || stage == "mirostat_v2";
}

SamplerHypothesis config_hypothesis(const SamplerEvidence& evidence, std::string signature,
                                    std::string statement, config::SamplingConfig changed) {
  return {std::move(signature), std::move(statement),
          [sampled = evidence.sampled, changed = std::move(changed)] {
            return sampled(changed, std::nullopt);
          }};
}

void add_list_hypotheses(const SamplerEvidence& evidence, SamplerHypotheses& out) {
  ListHypotheses(evidence, out).add_all();
}

std::optional<Cause> diagnose_sampler(const SamplerEvidence& evidence) {
  std::vector<Draw> inputs = {evidence.draw};
  for (Draw& probe : sampler_probes(evidence.draw)) inputs.push_back(std::move(probe));
  const Trial<Draw, Drawn> trial(evidence.a, evidence.b, std::move(inputs));
  // What was drawn may be the same, by another stage or with another probability.
  if (!trial.differs()) return std::nullopt;
  SamplerHypotheses hypotheses;
  add_rule_hypotheses(evidence, hypotheses);
  add_list_hypotheses(evidence, hypotheses);
  add_context_hypotheses(evidence, hypotheses);
  return trial.judge(hypotheses);
}

}  // namespace plumbline::diff
