#include "plumb/plumb.h"
#include "plumb/sdk/entry.h"
#include "sampler_table.h"

namespace {

const void* PLUMB_CALL extension(plumb_str id) {
  return plumbline::to_view(id) == PLUMB_EXT_SAMPLER ? &plumbline::samplers::core::sampler_table()
                                                     : nullptr;
}

}  // namespace

PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, plumbline::no_rank, extension)
