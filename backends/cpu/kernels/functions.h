// functions.h: the kernels of one variant, by name. kernels.h says what their arguments mean.
#pragma once

#include "backends/cpu/kernels/kernels.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {

Outcome embed(const EmbedArgs& args, Range rows);
Outcome norm(const NormArgs& args, Range rows);
Outcome quantize(const QuantizeArgs& args, Range blocks);
void matmul_q8(const MatmulArgs& args, Range panels);
void matmul_q8_tiles(const MatmulArgs& args, Range panels);  // for many rows
void matmul_f32(const MatmulArgs& args, Range panels);
Outcome rope(const RopeArgs& args, Range heads);
Outcome kv_write(const KvWriteArgs& args, Range heads);
Outcome kv_read(const KvReadArgs& args, Range heads);
Outcome attend(const AttendArgs& args, Range items);
Outcome elementwise(const ElementwiseArgs& args, Range groups);
Outcome argmax(const ArgmaxArgs& args, Range rows);

/// Any of them: the one symbol that the rest of the library knows.
Outcome call(Kernel kernel, const void* args, Range items);

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
