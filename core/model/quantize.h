// quantize.h: a model file with its weights in another format.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/model/model_file.h"

namespace plumbline::model {

/// The format that a tensor gets where the weights get `to`. Vectors (norms, biases) become F32.
/// Rows that are no whole number of Q6_K's blocks fall back to Q8_0, and rows that are none of 32
/// values to F16, as llama.cpp's own tool does. What is no weight stays as it is.
plumb_format quantized_format(const plumb_tensor& tensor, plumb_format to);

/// The format of a name, "q8_0" in any case, if values can be turned into it. Fails
/// INVALID_ARGUMENT, with the names there are.
Result<plumb_format> quantisable_format(std::string_view name);

struct QuantizeOptions {
  plumb_format to = PLUMB_Q8_0;  // one that can_quantise
  /// Called now and then, on the calling thread.
  std::function<void(uint64_t done_bytes, uint64_t total_bytes)> on_progress = {};
  const std::atomic<bool>* cancel = nullptr;  // ends it with CANCELLED
};

/// Tensors of one kind, that is of one name without the layer's number, with one format before and
/// one after.
struct QuantizedKind {
  std::string name;
  plumb_format from;
  plumb_format to;
  bool is_fallback;  // its rows do not fit the format that was asked for
  uint64_t n_tensors;
  uint64_t bytes;
  double rms_error;  // sqrt(sum (new - old)^2 / sum old^2); 0 where nothing changed
};

struct QuantizeReport {
  uint64_t file_bytes;
  std::vector<QuantizedKind> kinds;  // in the order of their first tensors
};

/// Writes `file` to the path `out`, replacing what is there when all is written. The same bytes for
/// any number of threads. Memory: a few buffers for each thread.
/// Fails NUMERIC (a value that is not finite, or too large for the format: tensor and element),
/// NOT_FOUND (out: no room, cannot be written), CANCELLED, and as ModelFile::layout does.
Result<QuantizeReport> quantize(const ModelFile& file, const plumb_model_writer& writer,
                                ThreadPool& pool, const std::string& out,
                                const QuantizeOptions& options);

}  // namespace plumbline::model
