#include "core/trace/matrix_trace.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/base/npy.h"

namespace plumbline::trace {
namespace {

constexpr std::array<const char*, 3> kLevels = {"hash", "statistics", "full"};

std::string_view bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

Error cannot_write(const std::string& path) {
  return {PLUMB_NOT_FOUND, path + ": cannot be written: " + std::strerror(errno)};
}

}  // namespace

const char* level_name(Level level) {
  return kLevels[static_cast<size_t>(level)];
}

std::optional<Level> level_of(std::string_view name) {
  const auto found = std::ranges::find(kLevels, name);
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<Level>(found - kLevels.begin());
}

uint64_t npy_file_bytes(uint64_t n_rows, uint64_t width) {
  return kNpyMatrixHeaderBytes + 4 * n_rows * width;
}

Result<void> MatrixTracer::add(uint32_t first_position, uint32_t width,
                               std::span<const float> values) {
  if (trace_.n_rows == 0) {
    trace_.first_position = first_position;
    trace_.width = width;
    if (level_ >= Level::kStatistics) trace_.statistics.emplace();
  }
  if (width == 0 || width != trace_.width || values.size() % width != 0 || values.empty() ||
      first_position != trace_.first_position + trace_.n_rows) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 std::to_string(values.size()) + " values of rows of " + std::to_string(width) +
                     " at position " + std::to_string(first_position) +
                     " do not follow the rows of " + std::to_string(trace_.width) +
                     " up to position " + std::to_string(trace_.first_position + trace_.n_rows)};
  }
  if (level_ == Level::kFull) PLUMB_TRY(write(values));
  for (std::span<const float> rest = values; !rest.empty();) {
    const uint32_t position = trace_.first_position + trace_.n_rows;
    if (!hash_) {
      hash_.emplace();
      trace_.chunks.push_back({.first_position = position});
    }
    const uint32_t room = kChunkPositions - position % kChunkPositions;
    const auto n = std::min(room, static_cast<uint32_t>(rest.size() / width));
    hash_->update(bytes_of(rest.first(size_t{n} * width)));
    trace_.chunks.back().n_rows += n;
    trace_.n_rows += n;
    if (n == room) close_chunk();
    rest = rest.subspan(size_t{n} * width);
  }
  if (trace_.statistics) {
    trace_.statistics->add(values);
    trace_.fingerprint = fingerprint(values.last(width));
  }
  return {};
}

void MatrixTracer::close_chunk() {
  trace_.chunks.back().sha256 = hash_->finish();
  hash_.reset();
}

// The header comes last, when the number of rows is known. The file is not held open: a model has
// more ops than a process may have files.
Result<void> MatrixTracer::write(std::span<const float> values) const {
  const std::string path = folder_ + "/" + file_;
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::app);
  if (trace_.n_rows == 0) out << std::string(kNpyMatrixHeaderBytes, '\0');
  out << bytes_of(values);
  out.close();
  if (!out) return cannot_write(path);
  return {};
}

Result<MatrixTrace> MatrixTracer::finish() && {
  if (hash_) close_chunk();
  if (level_ == Level::kFull && trace_.n_rows > 0) {
    trace_.file = file_;
    const std::string path = folder_ + "/" + file_;
    const std::array<uint64_t, 2> shape = {trace_.n_rows, trace_.width};
    std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
    errno = 0;
    out << npy_header(shape);
    out.close();
    if (!out) return cannot_write(path);
  }
  return std::move(trace_);
}

}  // namespace plumbline::trace
