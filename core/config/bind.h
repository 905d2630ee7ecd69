// bind.h: a complete, checked tree -> plain structs.
#pragma once

#include "core/config/pipeline_config.h"
#include "core/config/config_tree.h"

namespace plumbline::config {

PipelineConfig bind(const Value& tree);

}  // namespace plumbline::config
