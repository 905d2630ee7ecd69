#include "backends/cpu/kernels/functions.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {

Outcome call(Kernel kernel, const void* args, Range items) {
  switch (kernel) {
    case Kernel::kEmbed:
      return embed(*static_cast<const EmbedArgs*>(args), items);
    case Kernel::kNorm:
      return norm(*static_cast<const NormArgs*>(args), items);
    case Kernel::kQuantize:
      return quantize(*static_cast<const QuantizeArgs*>(args), items);
    case Kernel::kMatmul: {
      const auto& matmul = *static_cast<const MatmulArgs*>(args);
      matmul.quantised != 0 ? matmul_q8(matmul, items) : matmul_f32(matmul, items);
      return Outcome::kDone;
    }
    case Kernel::kRope:
      return rope(*static_cast<const RopeArgs*>(args), items);
    case Kernel::kKvWrite:
      return kv_write(*static_cast<const KvWriteArgs*>(args), items);
    case Kernel::kKvRead:
      return kv_read(*static_cast<const KvReadArgs*>(args), items);
    case Kernel::kAttend:
      return attend(*static_cast<const AttendArgs*>(args), items);
    case Kernel::kElementwise:
      return elementwise(*static_cast<const ElementwiseArgs*>(args), items);
    case Kernel::kArgmax:
      return argmax(*static_cast<const ArgmaxArgs*>(args), items);
  }
  return Outcome::kDone;
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
