// plugin.cc: the door of plumb.tokenizers.hf.
#include "plumb/sdk/entry.h"
#include "tokenizer.h"

namespace {

using plumbline::to_view;

const void* extension(plumb_str id) {
  if (to_view(id) != PLUMB_EXT_TOKENIZER) return nullptr;
  return plumbline::tokenizer::TokenizerTable<plumbline::tokenizers::hf::Tokenizer>::get();
}

}  // namespace

PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, plumbline::no_rank, extension)
