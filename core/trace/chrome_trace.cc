#include "core/trace/chrome_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/model/placement.h"

namespace plumbline::trace {
namespace {

using Json = nlohmann::ordered_json;

// Rows of the viewer.
constexpr int kDoorRow = 1, kOpRow = 2;

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

std::string shown(const model::RowShape& shape) {
  return "[" + std::to_string(shape.n_rows) + "," + std::to_string(shape.width) + "]";
}

class Writer {
 public:
  explicit Writer(Clock::time_point start) : start_(start) {}

  void name_row(int row, const std::string& name) {
    add({{"ph", "M"},
         {"pid", 1},
         {"tid", row},
         {"name", "thread_name"},
         {"args", {{"name", name}}}});
  }
  void add_span(const std::string& name, const char* category, int row, Clock::time_point begin,
                Clock::time_point end, Json args) {
    add({{"ph", "X"},
         {"pid", 1},
         {"tid", row},
         {"name", name},
         {"cat", category},
         {"ts", microseconds(begin - start_)},
         {"dur", microseconds(end - begin)},
         {"args", std::move(args)}});
  }
  void add(const Json& event) {
    text_ += text_.empty() ? "" : ",\n";
    text_ += event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  std::string finish() && {
    return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" + text_ + "\n]}\n";
  }

 private:
  Clock::time_point start_;
  std::string text_;
};

Json op_arguments(const OpSpan& span, const TimedRun& run) {
  const model::OpInfo& op = *span.op;
  const uint32_t n_rows = span.inputs.front().n_rows;
  // Of RoPE's tables an op reads its rows, of a KV cache what it may see; it appends its rows.
  const auto touched = [&](const model::RowShape& shape, bool is_whole) {
    return uint64_t{is_whole ? shape.n_rows : std::min(shape.n_rows, n_rows)} * shape.width;
  };
  uint64_t values = touched(span.output, false);
  Json inputs = Json::array();
  for (size_t i = 0; i < span.inputs.size(); ++i) {
    const model::Operand& operand = op.operands[i];
    inputs.push_back((operand.writer.empty() ? "host" : operand.writer) + shown(span.inputs[i]));
    values += touched(span.inputs[i], operand.is_kv());
  }
  const uint64_t weights = op.weight.empty() ? 0 : run.weight_bytes(op, n_rows);
  const double us = microseconds(span.end - span.begin);
  Json arguments{{"first_position", span.inputs.front().first_position},
                 {"inputs", std::move(inputs)}};
  if (span.output.width != 0) arguments["output"] = shown(span.output);
  if (!op.weight.empty()) arguments["weight"] = op.weight;
  if (weights != 0) arguments["weight_bytes"] = weights;
  if (us > 0) arguments["GB/s"] = static_cast<double>(weights + 4 * values) / (1e3 * us);
  return arguments;
}

}  // namespace

std::string chrome_trace(const TimedRun& run) {
  Clock::time_point start = Clock::time_point::max();
  for (const DoorSpan& door : run.doors) start = std::min(start, door.begin);
  for (const OpSpan& op : run.ops) start = std::min(start, op.begin);
  Writer writer(start);
  writer.add({{"ph", "M"}, {"pid", 1}, {"name", "process_name"}, {"args", {{"name", run.title}}}});
  writer.name_row(kDoorRow, "doors");
  writer.name_row(kOpRow, "ops, on " + std::to_string(run.n_threads) + " threads");
  for (const DoorSpan& door : run.doors) {
    Json arguments = Json::object();
    if (!door.detail.empty()) arguments["detail"] = door.detail;
    writer.add_span(door.name, "door", kDoorRow, door.begin, door.end, std::move(arguments));
  }
  for (const OpSpan& op : run.ops) {
    writer.add_span(op.op->name, model::op_kind_name(op.op->kind), kOpRow, op.begin, op.end,
                    op_arguments(op, run));
  }
  return std::move(writer).finish();
}

uint64_t chrome_bytes_max(uint64_t n_spans) {
  return 4096 + 768 * n_spans;
}

}  // namespace plumbline::trace
