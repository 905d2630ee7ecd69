// Any bytes as a GGUF file: a clean error or a model whose every view lies inside the file.
// Oracle: the sanitizers.
#include "plugins/loaders/gguf/loader_table.h"
#include "tests/support/memory_host.h"

using plumbline::make_abi;
using plumbline::to_abi;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n_bytes) {
  const plumb_loader& loader = plumbline::loaders::gguf::loader_table();
  plumbline::test::MemoryHost host;
  host.put("m.gguf", {data, data + n_bytes});
  void* model = nullptr;
  if (loader.open(&host.host(), to_abi("m.gguf"), &model, nullptr) != PLUMB_OK) return 0;
  plumb_str json{};
  loader.hyper_parameters(model, &json, nullptr);
  uint32_t seen = 0;
  for (uint64_t i = 0; i < loader.n_tensors(model); ++i) {
    auto tensor = make_abi<plumb_tensor>();
    loader.tensor_at(model, i, &tensor, nullptr);
    seen += tensor.data.data[0] + tensor.data.data[tensor.data.bytes - 1];
  }
  const volatile uint32_t kept = seen;  // the reads above must not be optimised away
  (void)kept;
  loader.close(model);
  return 0;
}
