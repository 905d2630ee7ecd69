// source.h: the catalogue behind the functions of plumb.model_source/1.
#pragma once

#include "plumb/ext/model_source.h"

namespace plumbline::sources::packages {

const plumb_model_source& source_table();

}  // namespace plumbline::sources::packages
