// swap.h: "kernels=avx2": one part of a pipeline exchanged, as overrides of its config.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/load.h"
#include "core/config/pipeline_config.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// What `--swap part=value` means for a config: keys that are set, "kernels.backend=avx2". Parts:
///
///   kernels=ID[:VARIANT]  kernels.OP[@FIRST-LAST]=ID  activations=  kv=  threads=  chunk=
///   tokenizer=ID  template=ID  loader=ID  model=PATH  draw=  profile=
///   a.b=value: any key of the config
///
/// Swaps of single ops are put in front of the overrides that config has: give all of them at
/// once. Fails INVALID_ARGUMENT: what was seen, and the parts there are.
Result<std::vector<std::string>> swap_overrides(const std::vector<std::string>& swaps,
                                                const config::PipelineConfig& config);

/// Those that set nothing but what a config had: before, as it was; after, with all of them. A swap
/// of single ops, or of keys that a resolved config no longer has, is none of them.
std::vector<std::string> idle_swaps(const std::vector<std::string>& swaps,
                                    const config::ResolvedConfig& before,
                                    const config::ResolvedConfig& after);

}  // namespace plumbline::diff
