// plugin.cc: the door of plumb.loaders.tokenizer.
#include "loader_table.h"
#include "plumb/plumb.h"
#include "plumb/sdk/entry.h"

namespace {

const void* PLUMB_CALL extension(plumb_str id) {
  using namespace plumbline;
  return to_view(id) == PLUMB_EXT_LOADER ? &loaders::tokenizer::loader_table() : nullptr;
}

}  // namespace

PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, plumbline::no_rank, extension)
