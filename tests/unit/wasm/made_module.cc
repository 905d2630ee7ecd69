#include "made_module.h"

#include <wasmtime.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "backends/wasm/module_layout.h"

namespace plumbline::test {

std::vector<uint8_t> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<uint8_t> assemble(std::string_view text) {
  wasm_byte_vec_t out;
  if (wasmtime_error_t* error = wasmtime_wat2wasm(text.data(), text.size(), &out)) {
    wasm_byte_vec_t message;
    wasmtime_error_message(error, &message);
    const std::string what(message.data, message.size);
    wasm_byte_vec_delete(&message);
    wasmtime_error_delete(error);
    throw std::runtime_error(what);
  }
  const std::vector<uint8_t> bytes(out.data, out.data + out.size);
  wasm_byte_vec_delete(&out);
  return bytes;
}

MadeModule::MadeModule()
    : layout("(func (export \"layout\") (result i32) i32.const " +
             std::to_string(wasm::kArgsLayout) + ")") {}

MadeModule MadeModule::with_body(std::string_view body) {
  MadeModule made;
  made.call =
      "(func $call (export \"call\") (param $kernel i32) (param $args i32) (param $begin i64) "
      "(param $end i64) (result i32) " +
      std::string(body) + ")";
  return made;
}

std::vector<uint8_t> MadeModule::bytes() const {
  return assemble("(module " + memory + layout + call + stack + heap + more + ")");
}

}  // namespace plumbline::test
