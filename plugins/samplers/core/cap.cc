#include <algorithm>

#include "candidates.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

/// The n best candidates, and a note of the cut: whether it decided anything shows at the draw.
class Cap : public Stage {
 public:
  Cap(uint64_t n, uint32_t n_vocab) : n_(std::min<uint64_t>(n, n_vocab)), n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override { return key_bytes(n_, n_vocab_); }

  plumb_status apply(const plumb_sample_context&, void* scratch, plumb_candidates& candidates,
                     plumb_error* error) override {
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    if (n_ >= candidates.n) return PLUMB_OK;
    const uint32_t n_before = candidates.n;
    auto* keys = static_cast<uint64_t*>(scratch);
    const size_t n = select_best(candidates, n_, keys);
    const uint64_t edge = *std::min_element(keys, keys + n);
    keep_if(candidates, AtOrBefore(edge));
    if (PLUMB_HAS(&candidates, plumb_candidates, cap_edge)) {
      candidates.n_capped += n_before - candidates.n;
      candidates.cap_edge = id_of(edge);
    }
    return PLUMB_OK;
  }

 private:
  uint64_t n_;
  uint32_t n_vocab_;
};

Created create(Parameters& parameters, uint32_t n_vocab) {
  PLUMB_ASSIGN(const uint64_t n, parameters.count_or("n", 1024, 1));
  return Created(std::make_unique<Cap>(n, n_vocab));
}

}  // namespace

const StageKind kCap = {
    "cap",
    R"({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "default": 1024, "description": "how many candidates stay at most"}}, "additionalProperties": false})",
    create};

}  // namespace plumbline::samplers::core
