#include "loader_table.h"
#include "plumb/plumb.h"
#include "plumb/sdk/entry.h"

namespace {

const void* PLUMB_CALL extension(plumb_str id) {
  return plumbline::to_view(id) == PLUMB_EXT_LOADER ? &plumbline::loaders::gguf::loader_table()
                                                    : nullptr;
}

}  // namespace

PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, plumbline::no_rank, extension)
