// loader_table.h: the table of plumb.loader/1.
#pragma once

#include "plumb/ext/loader.h"

namespace plumbline::loaders::gguf {

const plumb_loader& loader_table();

}  // namespace plumbline::loaders::gguf
