#include "loader_table.h"
#include "plumb/plumb.h"
#include "plumb/sdk/entry.h"

namespace {

using plumbline::to_abi;

plumb_status PLUMB_CALL probe(plumb_error*) {
  return PLUMB_OK;
}
int32_t PLUMB_CALL rank() {
  return 0;
}
const void* PLUMB_CALL extension(plumb_str id) {
  return plumbline::to_view(id) == PLUMB_EXT_LOADER ? &plumbline::loaders::gguf::loader_table()
                                                    : nullptr;
}

constexpr plumb_plugin kPlugin = {
    .struct_bytes = sizeof(plumb_plugin),
    .reserved = 0,
    .id = to_abi(PLUMB_PLUGIN_ID),
    .version = to_abi(PLUMB_PLUGIN_VERSION),
    .vendor = to_abi("Plumbline"),
    .license = to_abi("Apache-2.0"),
    .description = to_abi(PLUMB_PLUGIN_DESCRIPTION),
    .build = to_abi(PLUMB_PLUGIN_BUILD),
    .probe = probe,
    .rank = rank,
    .extension = extension,
};

}  // namespace

PLUMB_DEFINE_ENTRY(kPlugin)
