// chrome_trace.h: times of a run as a file for chrome://tracing and Perfetto.
// Source: "Trace Event Format" (Google, 2016): the JSON object format, complete events ("ph": "X").
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/op_timer.h"

namespace plumbline::trace {

/// A stage of the corridor, beside its ops.
struct DoorSpan {
  std::string name;  // "40 pick"
  Clock::time_point begin, end;
  std::string detail;  // for the reader; empty: none
};

struct TimedRun {
  std::string title;  // of the process in the viewer
  uint32_t n_threads = 1;
  std::vector<DoorSpan> doors;
  std::vector<OpSpan> ops;
  /// Bytes of an op's weights in the model file, as many as it reads for so many rows.
  std::function<uint64_t(const model::OpInfo& op, uint32_t n_rows)> weight_bytes;
};

/// The whole file. Times are microseconds from the first span on; an op's GB/s counts its weights,
/// inputs and output once.
std::string chrome_trace(const TimedRun& run);

/// At most so many bytes has the file of so many spans.
uint64_t chrome_bytes_max(uint64_t n_spans);

}  // namespace plumbline::trace
