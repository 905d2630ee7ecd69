#include <algorithm>
#include <array>
#include <cmath>

#include "core/diff/text_signatures/diagnose.h"
#include "core/diff/text_signatures/trial.h"
#include "plumb/sdk/philox.h"

namespace plumbline::diff {
namespace {

using Stages = std::vector<config::StageConfig>;
using SamplerHypotheses = std::vector<TextHypothesis<Draw, Drawn>>;

constexpr std::array kTruncations = {"top_k", "top_p", "min_p"};
constexpr std::array kDraws = {"greedy", "cdf", "gumbel"};

bool is_one_of(const std::string& stage, const auto& names) {
  return std::ranges::find(names, stage) != names.end();
}

std::ptrdiff_t offset(size_t index) {
  return static_cast<std::ptrdiff_t>(index);
}

/// Rows of every shape that decides a stage: steep and flat, with ties among the best and at the
/// edge of what is kept.
std::vector<Draw> sampler_probes(const Draw& given) {
  constexpr uint64_t kSeed = 20;
  constexpr double kScales[] = {0.01, 1, 3, 10};
  std::vector<Draw> probes;
  for (size_t scale = 0; scale < std::size(kScales); ++scale) {
    for (const bool has_ties : {false, true}) {
      for (uint64_t step = 0; step < 3; ++step) {
        Draw probe = given;
        probe.step = given.step + step;
        for (size_t id = 0; id < probe.logits.size(); ++id) {
          const double coin = coin_gumbel(kSeed + scale, step, static_cast<int32_t>(id));
          const double logit = std::log(coin / (1 - coin)) * kScales[scale];
          probe.logits[id] = static_cast<float>(has_ties ? std::floor(logit) : logit);
        }
        probes.push_back(std::move(probe));
      }
    }
  }
  Draw even = given;
  std::ranges::fill(even.logits, 0.0F);
  probes.push_back(std::move(even));
  return probes;
}

class StageHypotheses {
 public:
  StageHypotheses(const SamplerEvidence& evidence, SamplerHypotheses& out)
      : evidence_(evidence), out_(out), stages_(evidence.sampling_a.stages) {}

  void add_all() {
    for (size_t i = 0; i < stages_.size(); ++i) {
      add_missing(i);
      add_moved(i);
      add_parameter(i);
    }
    add_draw();
    add_more();
    add_keys();
    add_ties();
  }

 private:
  void add(const char* signature, std::string statement, const Stages& stages) {
    config::SamplingConfig changed = evidence_.sampling_a;
    changed.stages = stages;
    out_.push_back(
        {signature, std::move(statement),
         [sampled = evidence_.sampled, changed = std::move(changed)] { return sampled(changed); }});
  }

  void add_missing(size_t i) {
    Stages fewer = stages_;
    fewer.erase(fewer.begin() + offset(i));
    add("stage_missing", "B lacks A's stage " + stages_[i].stage, fewer);
  }

  // Behind a draw nothing counts.
  void add_moved(size_t i) {
    if (is_one_of(stages_[i].stage, kDraws)) return;
    for (size_t to = 0; to < stages_.size(); ++to) {
      if (to == i || is_one_of(stages_[to].stage, kDraws)) continue;
      Stages moved = stages_;
      moved.erase(moved.begin() + offset(i));
      moved.insert(moved.begin() + offset(to), stages_[i]);
      const std::string& passed = stages_[to].stage;
      const std::string how = stages_[i].stage + (to < i ? " before " : " behind ") + passed +
                              ", A the other way round";
      const bool heats =
          to < i && stages_[i].stage == "temperature" && is_one_of(passed, kTruncations);
      if (heats)
        add("temperature_before_truncation",
            "B truncates what the temperature has reshaped, A the model's own distribution: B "
            "has " +
                how,
            moved);
      add("stage_order_changed", "B has " + how, moved);
    }
  }

  void add_parameter(size_t i) {
    for (const config::StageConfig& theirs : evidence_.sampling_b.stages) {
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
    if (stages_.empty() || !is_one_of(stages_.back().stage, kDraws)) return;
    for (const char* draw : kDraws) {
      if (stages_.back().stage == draw) continue;
      Stages changed = stages_;
      changed.back() = {draw, config::kAuto, "{}"};
      add("draw_changed", std::string("B draws by ") + draw + ", A by " + stages_.back().stage,
          changed);
    }
  }

  void add_more() {
    for (const config::StageConfig& theirs : evidence_.sampling_b.stages) {
      if (is_one_of(theirs.stage, kDraws) ||
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

  void add_keys() {
    if (evidence_.sampling_b.seed != evidence_.sampling_a.seed) {
      config::SamplingConfig changed = evidence_.sampling_a;
      changed.seed = evidence_.sampling_b.seed;
      out_.push_back({"seed_changed",
                      "B's coins have the seed " + std::to_string(changed.seed) + ", A's " +
                          std::to_string(evidence_.sampling_a.seed),
                      [sampled = evidence_.sampled, changed] { return sampled(changed); }});
    }
    const auto keyed = [&](std::string statement, std::function<void(uint64_t&)> change) {
      out_.push_back({"coin_keyed_differently", std::move(statement),
                      [a = evidence_.a, change = std::move(change)] {
                        return Result<SamplerSide>([a, change](Draw draw) {
                          change(draw.step);
                          return a(draw);
                        });
                      }});
    };
    keyed("B's coins are those of one step later", [](uint64_t& step) { ++step; });
    keyed("B's coins are those of one step earlier", [](uint64_t& step) { --step; });
    keyed("B's coins are those of the first step at every step", [](uint64_t& step) { step = 0; });
  }

  // The row backwards: among equals the last comes first. Other draws than greedy see ids in coins.
  void add_ties() {
    if (stages_.empty() || stages_.back().stage != "greedy") return;
    out_.push_back({"tie_break_changed", "B prefers the higher of two ids with the same logit",
                    [a = evidence_.a] {
                      return Result<SamplerSide>([a](Draw draw) -> Result<Drawn> {
                        std::ranges::reverse(draw.logits);
                        PLUMB_ASSIGN(Drawn drawn, a(draw));
                        const auto last = static_cast<int32_t>(draw.logits.size()) - 1;
                        drawn.id = last - drawn.id;
                        for (int32_t& id : drawn.kept) id = last - id;
                        std::ranges::reverse(drawn.kept);
                        return drawn;
                      });
                    }});
  }

  const SamplerEvidence& evidence_;
  SamplerHypotheses& out_;
  const Stages stages_;
};

}  // namespace

std::optional<Cause> diagnose_sampler(const SamplerEvidence& evidence) {
  std::vector<Draw> inputs = {evidence.draw};
  for (Draw& probe : sampler_probes(evidence.draw)) inputs.push_back(std::move(probe));
  const Trial<Draw, Drawn> trial(evidence.a, evidence.b, std::move(inputs));
  // What was drawn may be the same, by another stage or with another probability.
  if (!trial.differs()) return std::nullopt;
  SamplerHypotheses hypotheses;
  StageHypotheses(evidence, hypotheses).add_all();
  return trial.judge(hypotheses);
}

}  // namespace plumbline::diff
