#include <algorithm>
#include <cmath>
#include <functional>

#include "candidates.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// A candidate in the order in which typical takes them.
struct Distance {
  double value;  // |-ln p - H|
  uint32_t place;  // among the candidates, which lie in id order

  bool operator<(const Distance& other) const {
    return value < other.value || (value == other.value && place < other.place);
  }
};

/// The candidates whose -ln p is closest to the entropy, until they have the share p of the mass.
/// Source: Meister et al. 2022, "Locally typical sampling".
class Typical : public Stage {
 public:
  Typical(double p, uint64_t min_keep, bool is_llama_cpp, uint32_t n_vocab)
      : p_(p), min_keep_(min_keep), is_llama_cpp_(is_llama_cpp), n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return n_vocab_ * sizeof(Distance); }

  plumb_status apply(const plumb_sample_context&, void* scratch, plumb_candidates& candidates,
                     plumb_error* error) override {
    if (candidates.order != PLUMB_ORDER_ID)
      order_by_id(candidates, static_cast<uint64_t*>(scratch));
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    if (p_ == 1) return PLUMB_OK;
    const float largest = candidates.logits[best];
    const auto distribution = Distribution::of(candidates, largest);
    const double expected = entropy(candidates, distribution);
    const auto distance = [&](float logit) {
      return std::fabs(distribution.surprise(logit) - expected);
    };
    const double wanted = p_ * distribution.total;
    auto* nearest = static_cast<Distance*>(scratch);
    for (size_t m = 256;; m *= 16) {
      const size_t n = select_first(
          candidates.n, m, nearest, Distance{INFINITY, UINT32_MAX},
          [&](uint32_t i) {
            return Distance{distance(candidates.logits[i]), i};
          },
          std::less<>());
      std::sort(nearest, nearest + n);
      double sum = 0;
      for (size_t i = 0; i < n; ++i) {
        sum += weight(candidates.logits[nearest[i].place], largest);
        if (!reaches(sum, wanted) || i + 1 < min_keep_) continue;
        keep_to(candidates, distance, nearest[i]);
        return PLUMB_OK;
      }
      if (n == candidates.n) return PLUMB_OK;
    }
  }

 private:
  bool reaches(double sum, double wanted) const {
    return is_llama_cpp_ ? sum > wanted : sum >= wanted;
  }

  template <typename Measure>
  void keep_to(plumb_candidates& candidates, Measure distance, const Distance& last) const {
    uint32_t place = 0;
    keep_if(candidates, [&](float logit, int32_t) {
      const Distance here{distance(logit), place++};
      return is_llama_cpp_ ? !(last < here) : here.value <= last.value;
    });
  }

  double p_;
  uint64_t min_keep_;
  bool is_llama_cpp_;
  uint32_t n_vocab_;
};

Created create(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(const double p, parameters.number("p", is_share, "a number from 0 to 1"));
  PLUMB_ASSIGN(const std::string_view variant, parameters.word_or("variant", {"hf", "llamacpp"}));
  PLUMB_ASSIGN(const uint64_t min_keep, parameters.count_or("min_keep", 1, 1));
  return Created(std::make_unique<Typical>(p, min_keep, variant == "llamacpp", n_vocab));
}

}  // namespace

const StageKind kTypical = {
    "typical",
    R"({"type": "object", "properties": {"p": {"type": "number", "minimum": 0, "maximum": 1, "description": "share of the mass that stays"}, "variant": {"enum": ["hf", "llamacpp"], "default": "hf", "description": "hf: until the mass is at least p, and all that tie with the last; llamacpp: until it is above p"}, )" PLUMB_MIN_KEEP_SCHEMA
    R"(}, "required": ["p"], "additionalProperties": false})",
    create};

}  // namespace plumbline::samplers::core
