// op_observer.h: what looks at a forward from between its ops, and may take part in it. The model
// declares it; traces and diffs implement it. A forward with an observer that changes nothing gives
// the bits of one without.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/op_info.h"
#include "plumb/ext/kernels.h"
#include "plumb/sdk/result.h"

namespace plumbline::model {

class Program;

/// Where the rows of an operand or an output belong.
struct RowShape {
  uint32_t first_position = 0;
  uint32_t n_rows = 0;  // T
  uint32_t width = 0;

  uint64_t size() const { return uint64_t{n_rows} * width; }
};

/// One op of a running forward: just before it runs, or just after. Valid inside the observer's
/// call.
///
/// A KV cache is an operand of `attend` and the output of `kv_append`: f32[S,2*K*C], all rows that
/// the op may see from position 0 on, k before v in each row.
class OpSite {
 public:
  OpSite(Program& program, size_t index, uint32_t first_position)
      : program_(&program), index_(index), first_position_(first_position) {}

  const OpInfo& info() const;
  /// The record as it runs; an observer that changes it puts it back.
  plumb_op& op() const;
  uint32_t first_position() const { return first_position_; }

  RowShape input_shape(size_t operand) const;
  /// False for a quantize op, whose output is the backend's secret.
  bool has_output() const;
  RowShape output_shape() const;

  /// f32 of the shape; the ids and positions of the host are i32 bit patterns. Fail as the backend
  /// does.
  Result<void> read_input(size_t operand, std::vector<float>& to) const;
  Result<void> read_output(std::vector<float>& to) const;
  /// The same, where it lies if the host can see it, else read into room. Valid until the op's
  /// value is written again.
  Result<std::span<const float>> view_output(std::vector<float>& room) const;
  /// Puts other values in place, quantised anew where the op reads them so. Other readers of the
  /// value see them too. values: of the shape.
  Result<void> write_input(size_t operand, std::span<const float> values) const;
  Result<void> write_output(std::span<const float> values) const;

  /// Of kv_append and attend: rows of the cache from the first on, and the positions that they are
  /// held at.
  Result<void> read_kv(uint32_t first, uint32_t n_rows, std::vector<float>& rows,
                       std::vector<int32_t>& positions) const;
  /// rows: f32[n,2*K*C]. positions: of each; none: they stay as they are.
  Result<void> write_kv(uint32_t first, std::span<const float> rows,
                        std::span<const int32_t> positions) const;

  /// Runs the op (once more), as its record stands.
  Result<void> run() const;

 private:
  Result<plumb_slice> operand_slice(size_t operand) const;
  uint32_t n_kv_rows() const;

  Program* program_;
  size_t index_;
  uint32_t first_position_;  // of the op's first row
};

class OpObserver {
 public:
  virtual ~OpObserver() = default;
  /// False: neither of the others is called for this op. Asked for each op of each forward.
  virtual bool wants(const OpInfo& op) = 0;
  /// An error ends the forward with it.
  virtual Result<void> before(OpSite&) { return {}; }
  virtual Result<void> after(OpSite&) { return {}; }
};

}  // namespace plumbline::model
