// loader_table.h: the files of a tokenizer as a model that has no tensors.
#pragma once

#include "plumb/ext/loader.h"

namespace plumbline::loaders::tokenizer {

const plumb_loader& loader_table();

}  // namespace plumbline::loaders::tokenizer
