#include "core/trace/op_tracer.h"

#include "core/model/placement.h"
#include "plumb/ext/kernels.h"

namespace plumbline::trace {

OpTracer::OpTracer(std::span<const model::OpInfo* const> ops, std::vector<std::string> backends,
                   Level level, const std::string& folder)
    : backends_(std::move(backends)) {
  traced_.reserve(ops.size());
  for (const model::OpInfo* op : ops) {
    by_name_.emplace(op->name, traced_.size());
    traced_.push_back({op, MatrixTracer(level, folder, "ops/" + op->name + ".npy")});
  }
}

bool OpTracer::wants(const model::OpInfo& op) {
  return by_name_.contains(op.name);
}

Result<void> OpTracer::after(model::OpSite& site) {
  const std::string& name = site.info().name;
  const model::RowShape shape = site.output_shape();
  PLUMB_TRY(site.read_output(values_));
  uint32_t first = shape.first_position;
  std::span<const float> rows = values_;
  if (site.info().kind == PLUMB_OP_KV_APPEND) {
    // The output is the whole cache.
    first = shape.n_rows - site.op().n_rows;
    rows = rows.subspan(size_t{first} * shape.width);
  }
  const auto done = traced_[by_name_.at(name)].tracer.add(first, shape.width, rows);
  if (!done) return Error(done.error()).at("op " + name);
  return {};
}

Result<std::vector<OpTrace>> OpTracer::finish() && {
  std::vector<OpTrace> traces;
  traces.reserve(traced_.size());
  for (Traced& one : traced_) {
    PLUMB_ASSIGN(MatrixTrace matrix, std::move(one.tracer).finish());
    traces.push_back({.name = one.op->name,
                      .layer = one.op->layer,
                      .kind = model::op_kind_name(one.op->kind),
                      .backend = backends_[one.op->backend],
                      .matrix = std::move(matrix)});
  }
  return traces;
}

}  // namespace plumbline::trace
