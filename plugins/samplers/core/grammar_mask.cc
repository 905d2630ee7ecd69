#include <cmath>

#include "candidates.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/id_bits.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// The candidates that the grammar allows; all where there is none.
class GrammarMask : public Stage {
 public:
  explicit GrammarMask(uint32_t) {}

  plumb_status apply(const plumb_sample_context& context, void*, plumb_candidates& candidates,
                     plumb_error* error) override {
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    if (!PLUMB_HAS(&context, plumb_sample_context, allowed_bits) || context.allowed_bits == nullptr)
      return PLUMB_OK;
    const uint64_t* const bits = context.allowed_bits;
    const auto is_allowed = [bits](int32_t id) { return has_id(bits, id); };
    bool has_mass = false;
    for (uint32_t i = 0; i < candidates.n && !has_mass; ++i)
      has_mass = is_allowed(candidates.ids[i]) && !std::isinf(candidates.logits[i]);
    if (!has_mass) {
      return failf(error, PLUMB_NOT_FOUND,
                   "the grammar allows none of the %u candidates that have mass, expected at least "
                   "one",
                   candidates.n);
    }
    keep_if(candidates, [&](float, int32_t id) { return is_allowed(id); });
    return PLUMB_OK;
  }
};

}  // namespace

const StageKind kGrammarMask = {"grammar_mask", kNoParameters, create_plain<GrammarMask>};

}  // namespace plumbline::samplers::core
