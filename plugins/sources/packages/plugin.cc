#include "plumb/plumb.h"
#include "plumb/sdk/entry.h"
#include "source.h"

namespace {

const void* PLUMB_CALL extension(plumb_str id) {
  return plumbline::to_view(id) == PLUMB_EXT_MODEL_SOURCE
             ? &plumbline::sources::packages::source_table()
             : nullptr;
}

}  // namespace

PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, plumbline::no_rank, extension)
