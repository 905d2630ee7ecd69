#include <limits>
#include <utility>
#include <vector>

#include "plumb/sdk/abi.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// The id of the script at this step, whatever the logits say.
class Scripted : public Stage {
 public:
  Scripted(std::vector<int32_t> ids, bool then_draw)
      : ids_(std::move(ids)), then_draw_(then_draw) {}

  plumb_status apply(const plumb_sample_context& context, void*, plumb_candidates& candidates,
                     plumb_error* error) override {
    if (candidates.picked >= 0) return PLUMB_OK;
    if (context.step >= ids_.size()) {
      if (then_draw_) return PLUMB_OK;
      return failf(error, PLUMB_CANCELLED, "the script of %zu ids ended", ids_.size());
    }
    candidates.picked = ids_[context.step];
    candidates.coin = candidates.probability = std::numeric_limits<double>::quiet_NaN();
    return PLUMB_OK;
  }

 private:
  std::vector<int32_t> ids_;
  bool then_draw_;
};

Created create(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(auto ids, parameters.ids("ids", n_vocab));
  PLUMB_ASSIGN(const std::string_view then, parameters.word_or("then", {"end", "draw"}));
  return Created(std::make_unique<Scripted>(std::move(ids), then == "draw"));
}

}  // namespace

const StageKind kScripted = {
    "scripted",
    R"({"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1, "description": "one id for each step"}, "then": {"enum": ["end", "draw"], "default": "end", "description": "after the last id: end the generation, or leave the pick to the next stage"}}, "required": ["ids"], "additionalProperties": false})",
    create};

}  // namespace plumbline::samplers::core
