// bind.h: a complete, checked tree -> plain structs.
#pragma once

#include "core/config/config_tree.h"
#include "core/config/pipeline_config.h"

namespace plumbline::config {

PipelineConfig bind(const Value& tree);

}  // namespace plumbline::config
