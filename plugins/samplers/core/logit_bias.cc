#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "candidates.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// z + bias for the ids that have one; minus infinity bans an id.
class LogitBias : public Stage {
 public:
  LogitBias(std::vector<Bias> biases, uint32_t n_vocab)
      : biases_(std::move(biases)), n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return n_vocab_ * sizeof(uint64_t); }

  plumb_status apply(const plumb_sample_context&, void* scratch, plumb_candidates& candidates,
                     plumb_error* error) override {
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    if (candidates.order != PLUMB_ORDER_ID)
      order_by_id(candidates, static_cast<uint64_t*>(scratch));
    for (const Bias& bias : biases_) {
      int32_t* const end = candidates.ids + candidates.n;
      const int32_t* const at = std::lower_bound(candidates.ids, end, bias.id);
      if (at == end || *at != bias.id) continue;
      float& logit = candidates.logits[at - candidates.ids];
      logit = finite_logit(static_cast<double>(logit) + bias.value);
    }
    // Bans may have left nothing.
    return find_best(candidates, &best, error);
  }

 private:
  std::vector<Bias> biases_;
  uint32_t n_vocab_;
};

Created create(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(auto biases, parameters.biases("biases", n_vocab));
  return Created(std::make_unique<LogitBias>(std::move(biases), n_vocab));
}

}  // namespace

const StageKind kLogitBias = {
    "logit_bias",
    R"({"type": "object", "properties": {"biases": {"type": "object", "minProperties": 1, "propertyNames": {"pattern": "^[0-9]+$"}, "additionalProperties": {"anyOf": [{"type": "number"}, {"const": "-inf"}]}, "description": "from ids to what is added to their logits; \"-inf\" bans one"}}, "required": ["biases"], "additionalProperties": false})",
    create};

}  // namespace plumbline::samplers::core
