#include <algorithm>
#include <cfloat>
#include <cmath>

#include "candidates.h"
#include "mass.h"
#include "nucleus.h"
#include "plumb/sdk/math.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// The k best: of equal logits those with lower ids, or all that tie with the k-th.
class TopK : public Stage {
 public:
  TopK(uint64_t k, bool keeps_ties, uint32_t n_vocab)
      : k_(std::min<uint64_t>(k, n_vocab)), keeps_ties_(keeps_ties), n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return key_bytes(k_, n_vocab_); }

  plumb_status apply(const plumb_sample_context&, void* scratch, plumb_candidates& candidates,
                     plumb_error* error) override {
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    auto* keys = static_cast<uint64_t*>(scratch);
    if (!keeps_ties_) {
      keep_best(candidates, k_, keys);
    } else if (k_ < candidates.n) {
      const size_t n = select_best(candidates, k_, keys);
      const float last = logit_of(*std::min_element(keys, keys + n));
      keep_if(candidates, [last](float logit, int32_t) { return logit >= last; });
    }
    return PLUMB_OK;
  }

 private:
  uint64_t k_;
  bool keeps_ties_;
  uint32_t n_vocab_;
};

/// The smallest set of best candidates with at least the share p of the mass, and at least
/// min_keep. Source: Holtzman et al. 2019, "The curious case of neural text degeneration".
class TopP : public Stage {
 public:
  TopP(double p, uint64_t min_keep, uint32_t n_vocab)
      : p_(p), min_keep_(min_keep), n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return Nucleus::scratch_bytes(n_vocab_); }

  plumb_status apply(const plumb_sample_context&, void* scratch, plumb_candidates& candidates,
                     plumb_error* error) override {
    if (candidates.order != PLUMB_ORDER_ID)
      order_by_id(candidates, static_cast<uint64_t*>(scratch));
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    if (p_ == 1) return PLUMB_OK;  // a rounded sum must not decide
    const float largest = candidates.logits[best];
    Nucleus nucleus(scratch, n_vocab_);
    const double total = Distribution::of(candidates, largest, nucleus.weights()).total;
    nucleus.keep(candidates,
                 [largest](float logit) {
                   return static_cast<double>(largest) - static_cast<double>(logit);
                 },
                 {.wanted = p_ * total, .min_keep = min_keep_});
    return PLUMB_OK;
  }

 private:
  double p_;
  uint64_t min_keep_;
  uint32_t n_vocab_;
};

/// Every candidate at or above a logit that the row itself sets, and at least the min_keep best.
class Threshold : public Stage {
 public:
  Threshold(uint64_t min_keep, uint32_t n_vocab)
      : min_keep_(std::min<uint64_t>(min_keep, n_vocab)), n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return key_bytes(min_keep_, n_vocab_); }

  plumb_status apply(const plumb_sample_context&, void* scratch, plumb_candidates& candidates,
                     plumb_error* error) override {
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    const double lowest = lowest_logit(candidates, candidates.logits[best]);
    const auto is_above = [lowest](float logit, int32_t) { return logit >= lowest; };
    uint64_t n_above = 0;
    for (uint32_t i = 0; i < candidates.n && n_above < min_keep_; ++i)
      n_above += is_above(candidates.logits[i], candidates.ids[i]) ? 1 : 0;
    if (n_above < min_keep_) {
      keep_best(candidates, min_keep_, static_cast<uint64_t*>(scratch));
    } else {
      keep_if(candidates, is_above);
    }
    return PLUMB_OK;
  }

 private:
  virtual double lowest_logit(const plumb_candidates& candidates, float largest) const = 0;

  uint64_t min_keep_;
  uint32_t n_vocab_;
};

/// At least p times the mass of the best: z >= z_max + ln p.
/// Source: Nguyen et al. 2024, "Turning up the heat: min-p sampling".
class MinP : public Threshold {
 public:
  MinP(double p, uint64_t min_keep, uint32_t n_vocab)
      : Threshold(min_keep, n_vocab), ln_p_(math::log(p)) {}

 private:
  double lowest_logit(const plumb_candidates&, float largest) const override {
    return largest + ln_p_;
  }

  double ln_p_;
};

/// z >= z_max - n sigma, where sigma is the standard deviation of the finite logits.
/// Source: Tang et al. 2024, "Top-n-sigma: not all logits are you need".
class TopNSigma : public Threshold {
 public:
  TopNSigma(double n, uint32_t n_vocab) : Threshold(1, n_vocab), n_(n) {}

 private:
  double lowest_logit(const plumb_candidates& candidates, float largest) const override {
    if (n_ == 0) return -INFINITY;
    double sum = 0, squares = 0;
    uint32_t n_finite = 0;
    for (uint32_t i = 0; i < candidates.n; ++i) {
      if (std::isinf(candidates.logits[i])) continue;
      sum += candidates.logits[i];
      ++n_finite;
    }
    const double mean = sum / n_finite;
    for (uint32_t i = 0; i < candidates.n; ++i) {
      if (std::isinf(candidates.logits[i])) continue;
      const double apart = candidates.logits[i] - mean;
      squares += apart * apart;
    }
    return largest - n_ * std::sqrt(squares / n_finite);
  }

  double n_;
};

Created create_top_k(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(const uint64_t k, parameters.count("k"));
  PLUMB_ASSIGN(const std::string_view ties, parameters.word_or("ties", {"exact", "all"}));
  return Created(std::make_unique<TopK>(k, ties == "all", n_vocab));
}

template <typename T>
Created create_share(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(const double p, parameters.number("p", is_share, "a number from 0 to 1"));
  PLUMB_ASSIGN(const uint64_t min_keep, parameters.count_or("min_keep", 1, 1));
  return Created(std::make_unique<T>(p, min_keep, n_vocab));
}

Created create_top_n_sigma(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(const double n, parameters.number(
                                   "n", [](double x) { return x >= 0 && x <= FLT_MAX; },
                                   "a number of at least 0; 0 is off"));
  return Created(std::make_unique<TopNSigma>(n, n_vocab));
}

}  // namespace

const StageKind kTopK = {
    "top_k",
    R"({"type": "object", "properties": {"k": {"type": "integer", "minimum": 1, "description": "how many candidates stay"}, "ties": {"enum": ["exact", "all"], "default": "exact", "description": "all: also those that tie with the k-th, as transformers"}}, "required": ["k"], "additionalProperties": false})",
    create_top_k};
const StageKind kTopP = {
    "top_p",
    R"({"type": "object", "properties": {"p": {"type": "number", "minimum": 0, "maximum": 1, "description": "share of the mass that stays"}, )" PLUMB_MIN_KEEP_SCHEMA
    R"(}, "required": ["p"], "additionalProperties": false})",
    create_share<TopP>};
const StageKind kMinP = {
    "min_p",
    R"({"type": "object", "properties": {"p": {"type": "number", "minimum": 0, "maximum": 1, "description": "least mass, as a share of the best candidate's"}, )" PLUMB_MIN_KEEP_SCHEMA
    R"(}, "required": ["p"], "additionalProperties": false})",
    create_share<MinP>};
const StageKind kTopNSigma = {
    "top_n_sigma",
    R"({"type": "object", "properties": {"n": {"type": "number", "minimum": 0, "description": "how many standard deviations below the best a logit may lie; 0: any"}}, "required": ["n"], "additionalProperties": false})",
    create_top_n_sigma};

}  // namespace plumbline::samplers::core
