// sampler_table.h: the table of plumb.sampler/1.
#pragma once

#include "plumb/ext/sampler.h"

namespace plumbline::samplers::core {

const plumb_sampler& sampler_table();

}  // namespace plumbline::samplers::core
