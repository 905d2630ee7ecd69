// op_tracer.h: traces the outputs of chosen ops of the forwards that it observes.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/op_observer.h"
#include "core/trace/matrix_trace.h"

namespace plumbline::trace {

struct OpTrace {
  std::string name;  // "3.attn_q_rope"
  int32_t layer = -1;
  std::string kind;  // "rope"
  std::string backend;  // the plugin's id
  MatrixTrace matrix;
};

/// Of kv_append the rows that it appended: f32[T,2*K*C], k before v. Positions must rise from one
/// forward to the next.
class OpTracer : public model::OpObserver {
 public:
  /// ops: as select_ops gives them, in order; they outlive the tracer. backends: ids by
  /// OpInfo::backend. folder: of the level full, whose files are ops/NAME.npy in it.
  OpTracer(std::span<const model::OpInfo* const> ops, std::vector<std::string> backends,
           Level level, const std::string& folder);

  bool wants(const model::OpInfo& op) override;
  Result<void> after(model::OpSite& site) override;

  Result<std::vector<OpTrace>> finish() &&;

 private:
  struct Traced {
    const model::OpInfo* op;
    MatrixTracer tracer;
  };
  std::vector<Traced> traced_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::vector<std::string> backends_;
  std::vector<float> values_;
};

}  // namespace plumbline::trace
