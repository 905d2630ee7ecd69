// made_module.h: WebAssembly modules written by tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace plumbline::test {

/// Bytes as TemporaryFolder::write takes them.
inline std::string_view as_text(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<uint8_t> read_bytes(const std::string& path);

/// A module in text form as bytes.
std::vector<uint8_t> assemble(std::string_view text);

/// The parts of a module that the plugin takes; each can be replaced by another text.
struct MadeModule {
  std::string memory = R"((import "env" "memory" (memory 1 65536 shared)))";
  std::string layout;  // at first the function that this build's module has
  std::string call = R"((func (export "call") (param i32 i32 i64 i64) (result i32) i32.const 0))";
  std::string stack = R"((global (export "__stack_pointer") (mut i32) (i32.const 0)))";
  std::string heap = R"((global (export "__heap_base") i32 (i32.const 8192)))";
  std::string more;

  MadeModule();
  /// `call` with this body; parameters are $kernel, $args, $begin and $end.
  static MadeModule with_body(std::string_view body);
  std::vector<uint8_t> bytes() const;
};

}  // namespace plumbline::test
