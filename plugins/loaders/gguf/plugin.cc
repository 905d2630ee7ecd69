#include "loader_table.h"
#include "plumb/plumb.h"
#include "plumb/sdk/entry.h"
#include "writer_table.h"

namespace {

const void* PLUMB_CALL extension(plumb_str id) {
  using namespace plumbline;
  if (to_view(id) == PLUMB_EXT_LOADER) return &loaders::gguf::loader_table();
  if (to_view(id) == PLUMB_EXT_MODEL_WRITER) return &loaders::gguf::writer_table();
  return nullptr;
}

}  // namespace

PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, plumbline::no_rank, extension)
