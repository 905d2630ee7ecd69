// plugin.cc: the door of plumb.tokenizers.bpe.
#include "bpe_tokenizer.h"
#include "plumb/sdk/entry.h"

namespace {

using plumbline::to_abi;
using plumbline::to_view;

plumb_status probe(plumb_error*) {
  return PLUMB_OK;
}
int32_t rank() {
  return 0;
}
const void* extension(plumb_str id) {
  if (to_view(id) != PLUMB_EXT_TOKENIZER) return nullptr;
  return plumbline::tokenizer::TokenizerTable<plumbline::tokenizers::bpe::BpeTokenizer>::get();
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
