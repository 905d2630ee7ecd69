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
                             plumb_candidates& candidates, plumb_error* error) const = 0;
};

using Created = Result<std::unique_ptr<Stage>>;

struct StageKind {
  std::string_view name;
  std::string_view schema;
  Created (*create)(Parameters& parameters, uint32_t n_vocab);
};

extern const StageKind kGreedy, kTemperature, kTopK, kTopP, kMinP, kCdf, kGumbel, kScripted;

/// The schema of a stage without parameters.
inline constexpr std::string_view kNoParameters =
    R"({"type": "object", "additionalProperties": false})";

template <typename T>
Created create_plain(Parameters&, uint32_t n_vocab) {
  return Created(std::make_unique<T>(n_vocab));
}

}  // namespace plumbline::samplers::core
