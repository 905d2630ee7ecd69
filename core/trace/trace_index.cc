#include "core/trace/trace_index.h"

#include <cmath>

namespace plumbline::trace {
namespace {

// JSON has no word for them.
OrderedJson number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

OrderedJson to_json(const Statistics& statistics, const std::vector<float>& fingerprint) {
  OrderedJson values = OrderedJson::array();
  for (const float value : fingerprint) values.push_back(number(value));
  return {{"min", statistics.min()},       {"max", statistics.max()},
          {"mean", statistics.mean()},     {"rms", statistics.rms()},
          {"nan", statistics.n_nan()},     {"infinite", statistics.n_infinite()},
          {"zeros", statistics.n_zeros()}, {"fingerprint", std::move(values)}};
}

OrderedJson to_json(const MatrixTrace& matrix) {
  OrderedJson chunks = OrderedJson::array();
  for (const Chunk& chunk : matrix.chunks) {
    chunks.push_back({{"first_position", chunk.first_position},
                      {"rows", chunk.n_rows},
                      {"sha256", chunk.sha256}});
  }
  OrderedJson json{{"first_position", matrix.first_position},
                   {"rows", matrix.n_rows},
                   {"width", matrix.width},
                   {"chunks", std::move(chunks)}};
  if (matrix.statistics) json["statistics"] = to_json(*matrix.statistics, matrix.fingerprint);
  if (!matrix.file.empty()) json["file"] = matrix.file;
  return json;
}

OrderedJson to_json(const BytesTrace& bytes) {
  return {{"file", bytes.file}, {"bytes", bytes.n_bytes}, {"sha256", bytes.sha256}};
}

OrderedJson to_json(const std::vector<Span>& spans) {
  OrderedJson json = OrderedJson::array();
  for (const Span& span : spans) json.push_back({span.first, span.second});
  return json;
}

OrderedJson or_null(const std::optional<double>& value) {
  return value ? number(*value) : OrderedJson();
}

OrderedJson ops_json(const std::vector<OpTrace>& ops) {
  OrderedJson json = OrderedJson::array();
  for (const OpTrace& op : ops) {
    OrderedJson entry{{"name", op.name}};
    if (op.layer >= 0) entry["layer"] = op.layer;
    entry["kind"] = op.kind;
    entry["backend"] = op.backend;
    entry.update(to_json(op.matrix));
    json.push_back(std::move(entry));
  }
  return json;
}

OrderedJson logits_json(const TraceIndex& index) {
  OrderedJson json = to_json(index.logits);
  OrderedJson steps = OrderedJson::array();
  for (const LogitsTrace& step : index.logits_steps) {
    OrderedJson entry{{"step", step.step}, {"position", step.position}, {"sha256", step.sha256}};
    if (step.sha256_without_taps) entry["sha256_without_taps"] = *step.sha256_without_taps;
    steps.push_back(std::move(entry));
  }
  json["steps"] = std::move(steps);
  return json;
}

OrderedJson picks_json(const std::vector<PickTrace>& picks) {
  OrderedJson json = OrderedJson::array();
  for (const PickTrace& pick : picks) {
    json.push_back({{"step", pick.step},
                    {"id", pick.id},
                    {"piece", pick.piece},
                    {"kept", pick.n_kept},
                    {"coin", or_null(pick.coin)},
                    {"probability", or_null(pick.probability)}});
  }
  return json;
}

}  // namespace

std::optional<bool> TraceIndex::taps_change_logits() const {
  std::optional<bool> changed;
  for (const LogitsTrace& step : logits_steps) {
    if (!step.sha256_without_taps) break;
    changed = *step.sha256_without_taps != step.sha256;
    if (*changed) break;
  }
  return changed;
}

OrderedJson to_json(const TraceIndex& index) {
  OrderedJson bytes = to_json(index.bytes);
  bytes["spans"] = to_json(index.bytes_spans);
  OrderedJson text = to_json(index.text);
  text["stop_reason"] = index.stop_reason;
  const std::optional<bool> changed = index.taps_change_logits();
  return {{"plumb_trace", 1},
          {"made_by", index.made_by},
          {"run", index.run},
          {"level", level_name(index.level)},
          {"hash", "sha256"},
          {"chunk_positions", kChunkPositions},
          {"taps_change_logits", changed ? OrderedJson(*changed) : OrderedJson()},
          {"doors",
           {{"00 prompt", to_json(index.prompt)},
            {"10 tokens", {{"ids", index.ids}, {"spans", to_json(index.spans)}}},
            {"20 ops", ops_json(index.ops)},
            {"30 logits", logits_json(index)},
            {"40 pick", picks_json(index.picks)},
            {"50 bytes", std::move(bytes)},
            {"60 text", std::move(text)}}}};
}

uint64_t index_bytes_max(uint64_t n_ops, uint64_t n_chunks, uint64_t n_ids) {
  // Indented, with numbers of their greatest length, and a piece of 100 bytes to a pick.
  return 16384 + 2048 * n_ops + 256 * n_chunks + 1024 * n_ids;
}

}  // namespace plumbline::trace
