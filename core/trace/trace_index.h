// trace_index.h: trace.json, the table of contents of a trace: configs/schema/trace.schema.json.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/op_tracer.h"

namespace plumbline::trace {

using OrderedJson = nlohmann::ordered_json;

/// Bytes that lie in a file of the trace.
struct BytesTrace {
  std::string file;
  uint64_t n_bytes = 0;
  std::string sha256;
};

using Span = std::pair<uint64_t, uint64_t>;  // of bytes, [begin, end)

/// Door 30 of one step.
struct LogitsTrace {
  uint32_t step = 0;
  uint32_t position = 0;  // of the id that they follow
  std::string sha256;
  std::optional<std::string> sha256_without_taps =
      {};  // of the same step of a run without an observer
};

/// Door 40 of one step.
struct PickTrace {
  uint32_t step = 0;
  int32_t id = -1;
  std::string piece;
  uint32_t n_kept = 0;
  std::optional<double> coin, probability;
};

struct TraceIndex {
  std::string made_by;
  OrderedJson run;  // which model, parts and choices: an object
  Level level = Level::kStatistics;
  BytesTrace prompt;
  std::vector<int32_t> ids;  // of the prompt
  std::vector<Span> spans;  // of each in the prompt's bytes; {0,0}: it stands for none
  std::vector<OpTrace> ops;
  MatrixTrace logits;  // f32[steps,V]
  std::vector<LogitsTrace> logits_steps;
  std::vector<PickTrace> picks;
  BytesTrace bytes;
  std::vector<Span> bytes_spans;  // of each pick
  BytesTrace text;
  std::string stop_reason;

  /// Without a second run nobody knows.
  std::optional<bool> taps_change_logits() const;
};

OrderedJson to_json(const TraceIndex& index);

/// At most so many bytes will trace.json have, with so much in it.
uint64_t index_bytes_max(uint64_t n_ops, uint64_t n_chunks, uint64_t n_ids);

}  // namespace plumbline::trace
