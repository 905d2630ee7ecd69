#include <cfloat>

#include "candidates.h"
#include "history.h"
#include "mass.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

bool is_f32(double x) {
  return x >= -FLT_MAX && x <= FLT_MAX;
}

/// A stage that changes the logits of ids by how often they stand in a window.
class Penalty : public Stage {
 public:
  Penalty(const CountingRule& rule, uint32_t n_vocab) : rule_(rule), n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return n_vocab_ * sizeof(uint64_t); }

  plumb_status apply(const plumb_sample_context& context, void* scratch,
                     plumb_candidates& candidates, plumb_error* error) override {
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    // What was in order may not be so afterwards.
    if (candidates.order != PLUMB_ORDER_ID)
      order_by_id(candidates, static_cast<uint64_t*>(scratch));
    auto* counts = static_cast<uint32_t*>(scratch);
    rule_.count(context, counts);
    change(candidates, counts);
    return PLUMB_OK;
  }

 private:
  /// The candidates hold a distribution and lie in id order.
  virtual void change(plumb_candidates& candidates, const uint32_t* counts) const = 0;

  CountingRule rule_;
  uint32_t n_vocab_;
};

/// z - strength * count.
class Frequency : public Penalty {
 public:
  Frequency(double strength, const CountingRule& rule, uint32_t n_vocab)
      : Penalty(rule, n_vocab), strength_(strength) {}

 private:
  void change(plumb_candidates& candidates, const uint32_t* counts) const override {
    for (uint32_t i = 0; i < candidates.n; ++i) {
      const uint32_t count = counts[candidates.ids[i]];
      if (count == 0) continue;
      candidates.logits[i] = finite_logit(candidates.logits[i] - strength_ * count);
    }
  }

  double strength_;
};

/// z - strength, where the id stands there at all.
class Presence : public Penalty {
 public:
  Presence(double strength, const CountingRule& rule, uint32_t n_vocab)
      : Penalty(rule, n_vocab), strength_(strength) {}

 private:
  void change(plumb_candidates& candidates, const uint32_t* counts) const override {
    for (uint32_t i = 0; i < candidates.n; ++i) {
      if (counts[candidates.ids[i]] == 0) continue;
      candidates.logits[i] = finite_logit(candidates.logits[i] - strength_);
    }
  }

  double strength_;
};

/// z / theta, or z * theta where z is negative. Source: Keskar et al. 2019, "CTRL". The answer
/// depends on what constant was added to all logits, which no distribution does.
class RepetitionBySign : public Penalty {
 public:
  RepetitionBySign(double theta, const CountingRule& rule, uint32_t n_vocab)
      : Penalty(rule, n_vocab), theta_(theta) {}

 private:
  void change(plumb_candidates& candidates, const uint32_t* counts) const override {
    for (uint32_t i = 0; i < candidates.n; ++i) {
      if (counts[candidates.ids[i]] == 0) continue;
      const double logit = candidates.logits[i];
      candidates.logits[i] = finite_logit(logit >= 0 ? logit / theta_ : logit * theta_);
    }
  }

  double theta_;
};

/// All logits become ln p, and those of the ids theta ln p. ln p has the same bits whatever
/// constant was added, as long as that addition was exact.
class RepetitionNormalised : public Penalty {
 public:
  RepetitionNormalised(double theta, const CountingRule& rule, uint32_t n_vocab)
      : Penalty(rule, n_vocab), theta_(theta) {}

 private:
  void change(plumb_candidates& candidates, const uint32_t* counts) const override {
    if (theta_ == 1) return;
    float largest = candidates.logits[0];
    for (uint32_t i = 1; i < candidates.n; ++i)
      largest = candidates.logits[i] > largest ? candidates.logits[i] : largest;
    const Distribution distribution = Distribution::of(candidates, largest);
    for (uint32_t i = 0; i < candidates.n; ++i) {
      const double ln_p = -distribution.surprise(candidates.logits[i]);
      candidates.logits[i] = finite_logit(counts[candidates.ids[i]] == 0 ? ln_p : theta_ * ln_p);
    }
  }

  double theta_;
};

template <typename T>
Created create_subtractive(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(const double strength,
               parameters.number("strength", is_f32, "a finite number of f32"));
  PLUMB_ASSIGN(const CountingRule rule, read_counting_rule(parameters, {"generated", "all"}));
  return Created(std::make_unique<T>(strength, rule, n_vocab));
}

Created create_repetition(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(const double theta, parameters.number(
                                       "theta", [](double x) { return x > 0 && x <= FLT_MAX; },
                                       "a number above 0; 1 changes nothing"));
  PLUMB_ASSIGN(const std::string_view rule,
               parameters.word_or("rule", {"ctrl_normalised", "ctrl_sign"}));
  PLUMB_ASSIGN(const CountingRule counting, read_counting_rule(parameters, {"all", "generated"}));
  if (rule == "ctrl_sign")
    return Created(std::make_unique<RepetitionBySign>(theta, counting, n_vocab));
  return Created(std::make_unique<RepetitionNormalised>(theta, counting, n_vocab));
}

}  // namespace

const StageKind kFrequency = {
    "frequency",
    R"({"type": "object", "properties": {"strength": {"type": "number", "description": "subtracted for each time that the id stands there"}, )" PLUMB_COUNT_SCHEMA(
        R"("generated", "all")",
        "generated") R"(}, "required": ["strength"], "additionalProperties": false})",
    create_subtractive<Frequency>};
const StageKind kPresence = {
    "presence",
    R"({"type": "object", "properties": {"strength": {"type": "number", "description": "subtracted once if the id stands there"}, )" PLUMB_COUNT_SCHEMA(
        R"("generated", "all")",
        "generated") R"(}, "required": ["strength"], "additionalProperties": false})",
    create_subtractive<Presence>};
const StageKind kRepetition = {
    "repetition",
    R"({"type": "object", "properties": {"theta": {"type": "number", "exclusiveMinimum": 0, "description": "above 1 makes ids that stand there less likely; 1 changes nothing"}, "rule": {"enum": ["ctrl_normalised", "ctrl_sign"], "default": "ctrl_normalised", "description": "ctrl_normalised: theta times ln p; ctrl_sign: the logit over theta, or times theta where it is negative, which depends on a constant that no distribution shows"}, )" PLUMB_COUNT_SCHEMA(
        R"("all", "generated")",
        "all") R"(}, "required": ["theta"], "additionalProperties": false})",
    create_repetition};

}  // namespace plumbline::samplers::core
