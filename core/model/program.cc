#include "core/model/program.h"

#include <algorithm>
#include <utility>

#include "core/model/sequence.h"

namespace plumbline::model {
namespace {

// Up to so many values, one thread is done sooner than a barrier: about a microsecond of
// elementwise work.
constexpr uint64_t kValuesForOneThread = 8192;
constexpr uint64_t kHeavy = kValuesForOneThread + 1;  // already with one row

// Of an op over many rows: a thread that is held up for a moment leaves its share to the others.
constexpr uint32_t kPartsPerThread = 4;

Result<void> check(const std::atomic<bool>* cancel) {
  if (cancel == nullptr || !cancel->load(std::memory_order_relaxed)) return {};
  return Error{PLUMB_CANCELLED, "cancelled"};
}

// Values that one row of an op touches.
uint64_t values_per_row(const plumb_op& op) {
  switch (op.kind) {
    case PLUMB_OP_RMS_NORM:
    case PLUMB_OP_LAYER_NORM:
      return uint64_t{op.as.norm.n_groups} * op.as.norm.width;
    case PLUMB_OP_QUANTIZE:
      return op.as.quantize.width;
    case PLUMB_OP_ROPE:
      return uint64_t{op.as.rope.n_heads} * op.as.rope.head_width;
    case PLUMB_OP_ACTIVATE:
    case PLUMB_OP_ADD:
    case PLUMB_OP_SCALE:
    case PLUMB_OP_SOFTCAP:
      return op.as.elementwise.width;
    default:
      return kHeavy;
  }
}

bool is_cache_op(const plumb_op& op) {
  return op.kind == PLUMB_OP_KV_APPEND || op.kind == PLUMB_OP_ATTEND;
}

}  // namespace

// ---- Values

ValueId Values::add(uint32_t width, uint32_t capacity_rows) {
  const size_t n = backends_.size();
  values_.push_back({width, capacity_rows, 0, "", std::vector<plumb_slice>(n),
                     std::vector<plumb_slice>(n), std::vector<char>(n, 0),
                     std::vector<int32_t>(n, -1)});
  return static_cast<ValueId>(values_.size() - 1);
}

Result<plumb_slice> Values::slice(ValueId value, BackendId backend) {
  Value& v = values_[value];
  if (v.slices[backend].buffer == 0) {
    const uint64_t bytes = uint64_t{4} * v.width * v.capacity_rows;
    PLUMB_ASSIGN(v.slices[backend], backends_[backend]->alloc(bytes));
  }
  return v.slices[backend];
}

Result<plumb_slice> Values::quantised_slice(ValueId value, BackendId backend) {
  Value& v = values_[value];
  if (v.quantised_slices[backend].buffer == 0) {
    const Backend& on = *backends_[backend];
    const uint64_t bytes = on.table().activation_bytes(on.self(), v.capacity_rows, v.width);
    if (bytes == 0) {
      return Error{PLUMB_UNSUPPORTED,
                   on.id() + " cannot quantise activations: set kernels.activations to f32"};
    }
    PLUMB_ASSIGN(v.quantised_slices[backend], backends_[backend]->alloc(bytes));
  }
  return v.quantised_slices[backend];
}

Result<void> Values::write_all(ValueId value, uint64_t offset_bytes, const void* data,
                               uint64_t bytes) {
  for (size_t backend = 0; backend < backends_.size(); ++backend) {
    plumb_slice slice = values_[value].slices[backend];
    if (slice.buffer == 0) continue;
    slice.offset_bytes += offset_bytes;
    PLUMB_TRY(backends_[backend]->write(slice, data, bytes));
  }
  return {};
}

void Values::wrote(ValueId value, BackendId backend, const std::string& op) {
  Value& v = values_[value];
  v.writer = op;
  std::fill(v.is_at.begin(), v.is_at.end(), 0);
  std::fill(v.quantised_by.begin(), v.quantised_by.end(), -1);
  v.is_at[backend] = 1;
  v.home = backend;
}

bool Values::is_at(ValueId value, BackendId backend) const {
  return values_[value].is_at[backend] != 0;
}
void Values::copied(ValueId value, BackendId backend) {
  values_[value].is_at[backend] = 1;
}
void Values::quantised(ValueId value, BackendId backend, int32_t op) {
  values_[value].quantised_by[backend] = op;
}

// ---- Building

Result<void> Program::bring(ValueId value, BackendId backend) {
  PLUMB_TRY(values_->slice(value, backend));
  if (values_->is_at(value, backend)) return {};
  Step copy{};
  copy.kind = Step::Kind::kCopy;
  copy.value = value;
  copy.from = values_->home(value);
  copy.backend = backend;
  steps_.push_back(copy);
  values_->copied(value, backend);
  return {};
}

Result<plumb_slice> Program::input(ValueId value, BackendId backend) {
  PLUMB_TRY(bring(value, backend));
  operands_.push_back({value, values_->writer(value)});
  return values_->slice(value, backend);
}

Result<void> Program::bring_quantised(ValueId value, BackendId backend, int32_t layer) {
  PLUMB_ASSIGN(const plumb_slice out, values_->quantised_slice(value, backend));
  if (values_->is_quantised_at(value, backend)) return {};
  auto op = make_abi<plumb_op>();
  op.kind = PLUMB_OP_QUANTIZE;
  PLUMB_ASSIGN(op.as.quantize.in, input(value, backend));
  op.as.quantize.out = out;
  op.as.quantize.width = values_->width(value);
  begin_set();
  add(op, {.name = values_->writer(value) + ".q8", .layer = layer, .backend = backend});
  begin_set();
  values_->quantised(value, backend, static_cast<int32_t>(ops_.size()) - 1);
  return {};
}

Result<plumb_slice> Program::quantised_input(ValueId value, BackendId backend, int32_t layer) {
  PLUMB_TRY(bring_quantised(value, backend, layer));
  operands_.push_back({value, values_->writer(value), values_->quantised_by(value, backend)});
  return values_->quantised_slice(value, backend);
}

void Program::kv_input(const std::string& append_op) {
  operands_.push_back({kNoValue, append_op});
}

void Program::keep(ValueId value, int32_t layer) {
  Step step{};
  step.kind = Step::Kind::kKeep;
  step.value = value;
  step.from = values_->home(value);
  step.layer = static_cast<size_t>(layer);
  steps_.push_back(step);
}

void Program::add(plumb_op op, OpInfo info) {
  op.id = static_cast<uint32_t>(ops_.size());
  op.n_rows = 1;
  info.kind = op.kind;
  info.operands = std::exchange(operands_, {});
  if (is_cache_op(op)) cache_ops_.push_back(op.id);
  const bool joins = !steps_.empty() && steps_.back().kind == Step::Kind::kOps &&
                     steps_.back().backend == info.backend && steps_.back().set == set_;
  if (joins) {
    ++steps_.back().n_ops;
    steps_.back().values_per_row += values_per_row(op);
  } else {
    Step step{};
    step.first_op = op.id;
    step.n_ops = 1;
    step.backend = info.backend;
    step.set = set_;
    step.values_per_row = values_per_row(op);
    steps_.push_back(step);
  }
  if (info.output != kNoValue) values_->wrote(info.output, info.backend, info.name);
  ops_.push_back(op);
  info_.push_back(std::move(info));
}

// ---- Running

void Program::set_rows(uint32_t n_rows) {
  n_rows_ = n_rows;
  for (plumb_op& op : ops_) op.n_rows = n_rows;
}

void Program::set_blocks(std::span<const RowBlock> blocks) {
  uint32_t n_rows = 0;
  for (const RowBlock& block : blocks) n_rows += block.n_rows;
  set_rows(n_rows);
  blocks_ = blocks;
  if (block_ops_.size() < blocks.size()) block_ops_.resize(blocks.size());
  if (blocks.size() > 1) return;
  for (const size_t index : cache_ops_) fill_in(ops_[index], info_[index], blocks.front());
}

void Program::fill_in(plumb_op& op, const OpInfo& info, const RowBlock& block) const {
  const plumb_handle cache = block.sequence->cache(static_cast<size_t>(info.layer));
  op.n_rows = block.n_rows;
  if (op.kind == PLUMB_OP_KV_APPEND) {
    op.as.kv_append.kv = cache;
    op.as.kv_append.first_row = block.first_row;
  } else {
    op.as.attend.kv = cache;
    op.as.attend.n_rows_kv = block.first_row + block.n_rows;
  }
}

// A kv_append or attend as it runs for each of the blocks, whose rows follow each other.
std::span<const plumb_op> Program::ops_for_blocks(size_t index) {
  const OpInfo& info = info_[index];
  uint64_t row = 0;
  const auto skip_rows = [&](plumb_slice& slice, ValueId value) {
    slice.offset_bytes += 4 * row * values_->width(value);
  };
  for (size_t i = 0; i < blocks_.size(); ++i) {
    plumb_op& op = block_ops_[i];
    op = ops_[index];
    fill_in(op, info, blocks_[i]);
    if (op.kind == PLUMB_OP_KV_APPEND) {
      skip_rows(op.as.kv_append.k, info.operands[0].value);
      skip_rows(op.as.kv_append.v, info.operands[1].value);
      skip_rows(op.as.kv_append.positions, info.operands[2].value);
    } else {
      skip_rows(op.as.attend.q, info.operands[0].value);
      skip_rows(op.as.attend.positions, info.operands[1].value);
      skip_rows(op.as.attend.out, info.output);
    }
    row += op.n_rows;
  }
  return std::span(block_ops_).first(blocks_.size());
}

Result<void> Program::plan() {
  ErrorBuffer error;
  for (const Step& step : steps_) {
    if (step.kind != Step::Kind::kOps) continue;
    const Backend& backend = *values_->backends()[step.backend];
    const plumb_status status =
        backend.table().plan(backend.self(), &ops_[step.first_op], step.n_ops, error);
    if (status != PLUMB_OK)
      return error.take(status).at(backend.id() + ": op " + info_[step.first_op].name);
  }
  return {};
}

void Program::use(ThreadPool& pool) {
  if (failures_.size() != pool.n_threads()) failures_ = std::vector<Failure>(pool.n_threads());
  pool_ = &pool;
}

Result<std::optional<size_t>> Program::next_op(Cursor& at, ThreadPool& pool,
                                               const std::atomic<bool>* cancel,
                                               ProgramCounters& counters) {
  use(pool);
  for (; at.step < steps_.size(); ++at.step, at.n_done = 0) {
    const Step& step = steps_[at.step];
    PLUMB_TRY(check(cancel));
    if (step.kind != Step::Kind::kOps) {
      PLUMB_TRY(run_transfer(step, counters));
    } else if (at.n_done < step.n_ops) {
      return std::optional<size_t>(step.first_op + at.n_done++);
    }
  }
  return std::optional<size_t>();
}

Result<void> Program::run(ThreadPool& pool, uint32_t first_position, OpObserver* observer,
                          const std::atomic<bool>* cancel, ProgramCounters& counters) {
  if (observer != nullptr) return run_observed(pool, first_position, *observer, cancel, counters);
  use(pool);
  for (const Step& step : steps_) {
    PLUMB_TRY(check(cancel));
    PLUMB_TRY(step.kind == Step::Kind::kOps ? run_group(step) : run_transfer(step, counters));
  }
  return {};
}

Result<void> Program::run_observed(ThreadPool& pool, uint32_t first_position, OpObserver& observer,
                                   const std::atomic<bool>* cancel, ProgramCounters& counters) {
  for (Cursor at;;) {
    PLUMB_ASSIGN(const std::optional<size_t> index, next_op(at, pool, cancel, counters));
    if (!index) return {};
    OpSite site(*this, *index, first_position);
    const bool is_wanted = observer.wants(info_[*index]);
    if (is_wanted) PLUMB_TRY(observer.before(site));
    PLUMB_TRY(run_op(*index));
    if (is_wanted) PLUMB_TRY(observer.after(site));
  }
}

Result<void> Program::run_op(size_t index) {
  Step step{};
  step.first_op = static_cast<uint32_t>(index);
  step.n_ops = 1;
  step.backend = info_[index].backend;
  step.values_per_row = values_per_row(ops_[index]);
  return run_group(step);
}

Result<void> Program::run_alone(size_t index, uint32_t n_rows, ThreadPool& pool) {
  use(pool);
  n_rows_ = n_rows;
  ops_[index].n_rows = n_rows;
  return run_op(index);
}

Result<void> Program::run_group(const Step& step) {
  const bool is_divided = blocks_.size() > 1 && is_cache_op(ops_[step.first_op]);
  return execute(step, is_divided ? ops_for_blocks(step.first_op)
                                  : std::span<const plumb_op>(&ops_[step.first_op], step.n_ops));
}

Result<void> Program::execute(const Step& step, std::span<const plumb_op> ops) {
  const Backend& backend = *values_->backends()[step.backend];
  const auto n_ops = static_cast<uint32_t>(ops.size());
  const uint32_t n_parts = parts_of(step, pool_->n_at_work());
  std::atomic<bool> failed{false};
  pool_->run(n_parts, [&](uint32_t thread, uint32_t part) {
    Failure& failure = failures_[thread];
    // Its own lower part has failed already: nothing that follows can win over that.
    if (failure.status != PLUMB_OK) return;
    failure.part = part;
    failure.status = backend.table().execute(backend.self(), ops.data(), n_ops,
                                             backend.worker(thread), part, n_parts, failure.error);
    if (failure.status != PLUMB_OK) failed.store(true, std::memory_order_relaxed);
  });
  if (!failed.load(std::memory_order_relaxed)) return {};
  return lowest_failure(step);
}

uint32_t Program::parts_of(const Step& step, uint32_t n_threads) const {
  if (n_threads == 1 || step.values_per_row * n_rows_ <= kValuesForOneThread) return 1;
  return n_rows_ == 1 ? n_threads : kPartsPerThread * n_threads;
}

Error Program::lowest_failure(const Step& step) {
  Failure* lowest = nullptr;
  for (Failure& failure : failures_) {
    if (failure.status == PLUMB_OK) continue;
    if (lowest == nullptr || failure.part < lowest->part) lowest = &failure;
  }
  const uint32_t id = lowest->error.op_id();
  const std::string& name = info_[id < info_.size() ? id : step.first_op].name;
  Error error = lowest->error.take(lowest->status)
                    .at(values_->backends()[step.backend]->id() + ": op " + name);
  for (Failure& failure : failures_) failure.status = PLUMB_OK;
  return error;
}

Result<void> Program::run_transfer(const Step& step, ProgramCounters& counters) {
  return step.kind == Step::Kind::kCopy ? run_copy(step, counters) : run_keep(step);
}

Result<void> Program::run_keep(const Step& step) const {
  const Backend& from = *values_->backends()[step.from];
  PLUMB_ASSIGN(plumb_slice slice, values_->slice(step.value, step.from));
  for (const RowBlock& block : blocks_) {
    const uint64_t bytes = uint64_t{4} * values_->width(step.value) * block.n_rows;
    PLUMB_TRY(from.read(slice, block.sequence->keys(step.layer, block.first_row), bytes));
    slice.offset_bytes += bytes;
  }
  return {};
}

Result<void> Program::run_copy(const Step& step, ProgramCounters& counters) {
  const Backend& from = *values_->backends()[step.from];
  const Backend& to = *values_->backends()[step.backend];
  const uint64_t bytes = uint64_t{4} * values_->width(step.value) * n_rows_;
  PLUMB_ASSIGN(const plumb_slice source, values_->slice(step.value, step.from));
  PLUMB_ASSIGN(const plumb_slice target, values_->slice(step.value, step.backend));
  ++counters.n_copies;
  counters.copied_bytes += bytes;
  if (const void* data = from.host_pointer(source)) return to.write(target, data, bytes);
  staging_.resize(std::max<size_t>(staging_.size(), bytes));
  PLUMB_TRY(from.read(source, staging_.data(), bytes));
  return to.write(target, staging_.data(), bytes);
}

}  // namespace plumbline::model
