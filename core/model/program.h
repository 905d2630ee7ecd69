// program.h: a list of named ops over named values, each op on the backend that the config chose
// for it.
//
// The host alone moves data: where an op's input lies with another backend, the program holds a
// copy step in front of it and counts it. Ops that do not depend on each other share one execute
// call and one barrier.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/model/backend.h"
#include "core/model/op_info.h"
#include "core/model/op_observer.h"
#include "plumb/ext/kernels.h"
#include "plumb/sdk/abi.h"

namespace plumbline::model {

class Sequence;

/// The values that programs of one decoder share, and where their memory is on each backend.
class Values {
 public:
  explicit Values(std::vector<Backend*> backends) : backends_(std::move(backends)) {}

  const std::vector<Backend*>& backends() const { return backends_; }
  ValueId add(uint32_t width, uint32_t capacity_rows);
  uint32_t width(ValueId value) const { return values_[value].width; }
  uint32_t capacity_rows(ValueId value) const { return values_[value].capacity_rows; }

  /// Memory of the value on a backend, allocated when first asked for.
  Result<plumb_slice> slice(ValueId value, BackendId backend);
  /// Memory for the value in the backend's quantised layout.
  Result<plumb_slice> quantised_slice(ValueId value, BackendId backend);
  /// Writes host data behind the first offset_bytes of the value on every backend that has memory
  /// for it.
  Result<void> write_all(ValueId value, uint64_t offset_bytes, const void* data, uint64_t bytes);

  // Which backends hold the newest contents; kept while programs are built.
  void wrote(ValueId value, BackendId backend, const std::string& op);
  bool is_at(ValueId value, BackendId backend) const;
  BackendId home(ValueId value) const { return values_[value].home; }
  /// The op that wrote it last; empty: the host.
  const std::string& writer(ValueId value) const { return values_[value].writer; }
  void copied(ValueId value, BackendId backend);
  /// The op of the program under construction that quantises the newest contents; -1: none does.
  int32_t quantised_by(ValueId value, BackendId backend) const {
    return values_[value].quantised_by[backend];
  }
  bool is_quantised_at(ValueId value, BackendId backend) const {
    return quantised_by(value, backend) >= 0;
  }
  void quantised(ValueId value, BackendId backend, int32_t op);

 private:
  struct Value {
    uint32_t width;
    uint32_t capacity_rows;
    BackendId home = 0;  // where it was written last
    std::string writer;
    std::vector<plumb_slice> slices;
    std::vector<plumb_slice> quantised_slices;
    std::vector<char> is_at;
    std::vector<int32_t> quantised_by;
  };
  std::vector<Backend*> backends_;
  std::vector<Value> values_;
};

/// How often the host had to copy a value from one backend to another.
struct ProgramCounters {
  uint64_t n_copies = 0;
  uint64_t copied_bytes = 0;
};

/// Rows of a run that go to one sequence, behind those that it holds.
struct RowBlock {
  Sequence* sequence;
  uint32_t n_rows;
  uint32_t first_row;  // of its caches
};

class Program {
 public:
  explicit Program(Values& values) : values_(&values) {}

  // ---- Building

  /// Ops added from here on do not depend on each other, until the next begin_set.
  void begin_set() { ++set_; }
  /// An operand of the op that is added next: makes sure that the newest contents of the value can
  /// be read on the backend. Operands are asked for in the order of the op's record. Its slice.
  Result<plumb_slice> input(ValueId value, BackendId backend);
  /// The same of the value as the backend's quantised activations.
  Result<plumb_slice> quantised_input(ValueId value, BackendId backend, int32_t layer);
  /// The KV cache that an op wrote as an operand of the op that is added next.
  void kv_input(const std::string& append_op);
  /// Makes sure of contents on the backend, or of their quantised form, for ops of later sets;
  /// nothing is added where they are there already. The quantize op is named WRITER.q8.
  Result<void> bring(ValueId value, BackendId backend);
  Result<void> bring_quantised(ValueId value, BackendId backend, int32_t layer);
  /// Copies the value's rows, as they are then, to where their sequences keep the layer's keys.
  void keep(ValueId value, int32_t layer);
  /// Appends an op whose slices are filled in. info: all but its kind and operands. Handles of KV
  /// caches are those of the sequences that it will run for.
  void add(plumb_op op, OpInfo info);

  // ---- Running

  size_t n_ops() const { return ops_.size(); }
  plumb_op& op(size_t index) { return ops_[index]; }
  const OpInfo& info(size_t index) const { return info_[index]; }
  Values& values() const { return *values_; }
  Backend& backend_of(size_t index) const { return *values_->backends()[info_[index].backend]; }

  /// Sizes the backends' scratch for the ops as they stand now, at their largest. Call once, before
  /// run.
  Result<void> plan();
  /// Rows of a program that touches no KV cache.
  void set_rows(uint32_t n_rows);
  /// Rows of one sequence after the other: the blocks must outlive the run. All other ops run once
  /// over all rows; kv_append and attend run for each block, and their records here are those of
  /// the only block, if it is one.
  void set_blocks(std::span<const RowBlock> blocks);
  /// How far a run that goes op by op has come.
  struct Cursor {
    size_t step = 0;
    uint32_t n_done = 0;  // ops of the step
  };
  /// The op that comes next, after the copies in front of it, which this makes; none: the run is at
  /// its end. Whoever asks runs it. Fails CANCELLED as run does.
  Result<std::optional<size_t>> next_op(Cursor& at, ThreadPool& pool,
                                        const std::atomic<bool>* cancel, ProgramCounters& counters);
  bool is_last(size_t index) const { return index + 1 == ops_.size(); }
  /// Executes everything in order. first_position: of the first row, for the observer. cancel:
  /// null, or a flag that ends the run between two ops: CANCELLED. Allocates nothing without an
  /// observer.
  Result<void> run(ThreadPool& pool, uint32_t first_position, OpObserver* observer,
                   const std::atomic<bool>* cancel, ProgramCounters& counters);
  /// One op of the run that is going on: what next_op gave, or once more from an observer's call.
  Result<void> run_op(size_t index);
  /// One op outside any run, on rows that the caller has put into its slices.
  Result<void> run_alone(size_t index, uint32_t n_rows, ThreadPool& pool);

 private:
  struct Step {
    enum class Kind { kOps, kCopy, kKeep };
    Kind kind = Kind::kOps;
    // a group of ops
    uint32_t first_op = 0;
    uint32_t n_ops = 0;
    BackendId backend = 0;
    uint64_t set = 0;
    // That its ops touch; a matrix product or attention counts as more than one thread's worth.
    uint64_t values_per_row = 0;
    // a copy; also what is kept
    ValueId value = 0;
    BackendId from = 0;
    size_t layer = 0;
  };

  /// How the last part that a thread ran has ended.
  struct Failure {
    plumb_status status = PLUMB_OK;
    uint32_t part = 0;
    ErrorBuffer error;
  };

  void use(ThreadPool& pool);
  Result<void> run_observed(ThreadPool& pool, uint32_t first_position, OpObserver& observer,
                            const std::atomic<bool>* cancel, ProgramCounters& counters);
  Result<void> run_group(const Step& step);
  Result<void> execute(const Step& step, std::span<const plumb_op> ops);
  void fill_in(plumb_op& op, const OpInfo& info, const RowBlock& block) const;
  std::span<const plumb_op> ops_for_blocks(size_t index);
  uint32_t parts_of(const Step& step, uint32_t n_threads) const;
  Error lowest_failure(const Step& step);
  Result<void> run_transfer(const Step& step, ProgramCounters& counters);
  Result<void> run_copy(const Step& step, ProgramCounters& counters);
  Result<void> run_keep(const Step& step) const;

  Values* values_;
  std::vector<plumb_op> ops_;
  std::vector<OpInfo> info_;
  std::vector<Step> steps_;
  std::vector<size_t> cache_ops_;  // indices of kv_append and attend
  uint64_t set_ = 0;
  uint32_t n_rows_ = 1;
  std::span<const RowBlock> blocks_;
  std::vector<plumb_op> block_ops_;  // of the group that runs, one for each block
  ThreadPool* pool_ = nullptr;  // of the run that is going on
  std::vector<Operand> operands_;  // of the op that is added next
  std::vector<char> staging_;  // of copies between backends without host memory
  std::vector<Failure> failures_;  // one for each thread; no failure is left between two groups
};

}  // namespace plumbline::model
