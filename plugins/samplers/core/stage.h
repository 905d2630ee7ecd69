// stage.h: what each stage of this library is. Their rules: core/doc/samplers.md.
#pragma once

#include <memory>
#include <string_view>

#include "parameters.h"
#include "plumb/ext/sampler.h"

namespace plumbline::samplers::core {

class Stage {
 public:
  virtual ~Stage() = default;
  virtual uint64_t scratch_bytes() const { return 0; }
  /// Allocates nothing. candidates holds at least one.
  virtual plumb_status apply(const plumb_sample_context& context, void* scratch,
                             plumb_candidates& candidates, plumb_error* error) = 0;

  // Of a stage that remembers something from pick to pick.
  virtual uint64_t state_bytes() const { return 0; }
  virtual void state_get(void*) const {}
  virtual plumb_status state_set(const void*, plumb_error*) { return PLUMB_OK; }
};

using Created = Result<std::unique_ptr<Stage>>;

struct StageKind {
  std::string_view name;
  std::string_view schema;
  Created (*create)(Parameters& parameters, uint32_t n_vocab);
};

extern const StageKind kFrequency, kPresence, kRepetition, kDry;
extern const StageKind kLogitBias, kGrammarMask, kCap;
extern const StageKind kTopK, kTopP, kMinP, kTypical, kTopNSigma, kXtc;
extern const StageKind kTemperature, kDynamicTemperature;
extern const StageKind kGreedy, kCdf, kGumbel, kXorshift64, kMirostatV2, kScripted;

/// The schema of a stage without parameters.
inline constexpr std::string_view kNoParameters =
    R"({"type": "object", "additionalProperties": false})";

/// The part of a schema that is the parameter `min_keep`.
#define PLUMB_MIN_KEEP_SCHEMA \
  R"("min_keep": {"type": "integer", "minimum": 1, "default": 1, "description": "how many candidates stay at least"})"

constexpr bool is_share(double x) {
  return x >= 0 && x <= 1;
}

template <typename T>
Created create_plain(Parameters&, uint32_t n_vocab) {
  return Created(std::make_unique<T>(n_vocab));
}

}  // namespace plumbline::samplers::core
