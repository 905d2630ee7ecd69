// matrix_trace.h: what a trace keeps of one matrix whose rows come one position after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/hash/sha256.h"
#include "core/trace/statistics.h"
#include "plumb/sdk/result.h"

namespace plumbline::trace {

/// Each holds what the one before it holds.
enum class Level { kHash, kStatistics, kFull };
/// "hash", "statistics", "full".
const char* level_name(Level level);
std::optional<Level> level_of(std::string_view name);

/// Positions [32 k, 32 k + 32) share a hash, so the hashes do not depend on how a run was cut into
/// forwards.
inline constexpr uint32_t kChunkPositions = 32;

struct Chunk {
  uint32_t first_position = 0;
  uint32_t n_rows = 0;
  std::string sha256 = {};  // of the f32 values, little-endian, row by row
};

struct MatrixTrace {
  uint32_t first_position = 0;
  uint32_t n_rows = 0;
  uint32_t width = 0;
  std::vector<Chunk> chunks;
  std::optional<Statistics> statistics;
  std::vector<float> fingerprint;  // of the last row
  std::string file;  // .npy f32[n_rows,width], from the trace's folder; empty: none
};

/// Bytes of the .npy file of so many rows.
uint64_t npy_file_bytes(uint64_t n_rows, uint64_t width);

/// Takes rows in rising order of their positions and keeps what the level says. Move-only.
class MatrixTracer {
 public:
  /// folder, file: of the level full; the file is made in the folder.
  MatrixTracer(Level level, std::string folder, std::string file)
      : level_(level), folder_(std::move(folder)), file_(std::move(file)) {}

  /// Whole rows from first_position on. Fails INVALID_ARGUMENT for rows that do not follow those
  /// that are there, NOT_FOUND where the file cannot be written (path and reason).
  Result<void> add(uint32_t first_position, uint32_t width, std::span<const float> values);
  Result<MatrixTrace> finish() &&;

 private:
  void close_chunk();
  Result<void> write(std::span<const float> values) const;

  Level level_;
  std::string folder_, file_;
  MatrixTrace trace_;
  std::optional<Sha256> hash_;  // of the chunk that is not full yet
};

}  // namespace plumbline::trace
