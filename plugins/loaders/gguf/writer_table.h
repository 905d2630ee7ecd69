// writer_table.h: the plumb.model_writer/1 table of GGUF files.
#pragma once

#include "plumb/ext/model_writer.h"

namespace plumbline::loaders::gguf {

const plumb_model_writer& writer_table();

}  // namespace plumbline::loaders::gguf
