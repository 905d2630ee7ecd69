#include <cmath>

#include "candidates.h"
#include "mass.h"
#include "nucleus.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// The candidates whose -ln p is closest to the entropy, until they have the share p of the mass.
/// Source: Meister et al. 2022, "Locally typical sampling".
class Typical : public Stage {
 public:
  Typical(double p, uint64_t min_keep, bool is_llama_cpp, uint32_t n_vocab)
      : p_(p), min_keep_(min_keep), is_llama_cpp_(is_llama_cpp), n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return Nucleus::scratch_bytes(n_vocab_); }

  plumb_status apply(const plumb_sample_context&, void* scratch, plumb_candidates& candidates,
                     plumb_error* error) override {
    if (candidates.order != PLUMB_ORDER_ID)
      order_by_id(candidates, static_cast<uint64_t*>(scratch));
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    if (p_ == 1) return PLUMB_OK;  // a rounded sum must not decide
    Nucleus nucleus(scratch, n_vocab_);
    const auto distribution =
        Distribution::of(candidates, candidates.logits[best], nucleus.weights());
    nucleus.keep(
        candidates,
        [&](float logit) { return std::fabs(distribution.surprise(logit) - distribution.entropy); },
        {.wanted = p_ * distribution.total,
         .wants_more = is_llama_cpp_,
         .min_keep = min_keep_,
         .keeps_ties = !is_llama_cpp_});
    return PLUMB_OK;
  }

 private:
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
