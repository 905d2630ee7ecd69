// wrong_stages.h: truncating stages as they have been written by mistake, to be tried in the place
// of a right one.
#pragma once

#include <span>

#include "plumb/ext/sampler.h"

namespace plumbline::diff {

struct WrongStage {
  const char* signature;
  const char* statement;  // what B does
  const char* stage;  // whose place it takes; its parameters are read as that one's
  const plumb_sampler* table;
};
std::span<const WrongStage> wrong_stages();

}  // namespace plumbline::diff
