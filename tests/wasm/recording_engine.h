// recording_engine.h: an engine that runs the scalar kernels and writes down every call, with all
// memory that it names before it, and what it changed. Another engine can then make the same calls.
//
// The file, little-endian: u32 magic "PWC1", u32 layout (backends/wasm/module_layout.h), then
// calls:
//   u32 kernel, outcome, args_bytes, n_refs, n_pieces, name_bytes; u64 begin, end
//   name
//   args: an address is 0, or (piece + 1) << 32 | offset
//   n_pieces times: u32 bytes, u32 is_scratch, the bytes before unless it is scratch (then zeros)
//   n_pieces times: u32 n_runs, n_runs times: u32 at, u32 bytes, the bytes after
#pragma once

#include <string>

namespace plumbline::test {

/// Where calls of all engines go from now on, under this name. The file is made by the first.
void record_to(const std::string& path);
void record_as(const std::string& name);
/// Throws std::runtime_error if the file could not be written. Returns how many calls it holds.
int finish_recording();

}  // namespace plumbline::test
