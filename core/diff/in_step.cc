#include "core/diff/in_step.h"

#include <algorithm>
#include <cstring>

#include "core/diff/moved_keys.h"

namespace plumbline::diff {
namespace {

// Those that are compared: a quantize op has no output that can be read.
std::vector<std::string> ops_with_outputs(const model::Decoder& decoder) {
  std::vector<std::string> names;
  for (const model::OpInfo* op : decoder.ops()) {
    if (op->kind != PLUMB_OP_QUANTIZE) names.push_back(op->name);
  }
  return names;
}

// Do both evict the same rows at the same ids, if any?
bool have_equal_windows(const model::Decoder& a, const model::Decoder& b) {
  return a.window_options() == b.window_options() &&
         (!a.sequence().window().evicts() || a.capacity_rows() == b.capacity_rows());
}

// Do the two run ops of the same names on the same ids, one after the other?
bool can_run_in_step(const model::Decoder& a, const model::Decoder& b) {
  return a.chunk_rows() == b.chunk_rows() && have_equal_windows(a, b) &&
         ops_with_outputs(a) == ops_with_outputs(b);
}

}  // namespace

Result<std::unique_ptr<InStep>> InStep::begin(Side& a, Side& b, const Options& options) {
  std::unique_ptr<InStep> owned(new InStep(a, b, options));
  InStep& made = *owned;
  made.n_vocab_ = b.hyper_parameters().n_vocab;
  size_t n_twins = 0;
  made.forced_.decoder = b.decoder();
  if (a.decoder() == b.decoder()) {
    PLUMB_ASSIGN(made.forced_.decoder, b.twin(n_twins++));
  }
  if (options.runs_freely) {
    PLUMB_ASSIGN(made.free_.decoder, b.twin(n_twins++));
  }
  made.pool_ = &made.forced_.decoder->pool();
  if (a.decoder() != nullptr && can_run_in_step(*a.decoder(), *made.forced_.decoder))
    made.a_.decoder = a.decoder();
  PLUMB_TRY(a.restart());
  for (const Run* run : {&made.forced_, &made.free_}) {
    if (run->decoder != nullptr) PLUMB_TRY(run->decoder->truncate(0));
  }
  return owned;
}

Result<bool> InStep::Run::advance() {
  is_at_op = false;
  if (!forward) return false;
  do {
    auto next = forward->next();
    if (!next) {
      forward.reset();
      if (next.error().code != PLUMB_NUMERIC) return std::move(next).error();
      failure = next.error().message;
      return false;
    }
    if (!*next) return false;
  } while (!forward->site().has_output());
  is_at_op = true;
  return true;
}

Result<void> InStep::record(std::span<const int32_t> ids) {
  recorded_logits_ = {};
  if (a_.decoder != nullptr || !a_.failure.empty()) return {};
  auto logits = side_a_->forward(
      ids, {.recording = &recording_, .all_rows = options_.all_rows, .cancel = options_.cancel});
  if (!logits && logits.error().code != PLUMB_NUMERIC) return std::move(logits).error();
  if (!logits) {
    a_.failure = logits.error().message;
    return {};
  }
  recorded_logits_ = *logits;
  const auto n_ids = static_cast<uint32_t>(ids.size());
  recorded_position_ = n_fed_ + (options_.all_rows ? 0 : n_ids - 1);
  logits_of_a_ = recorded_logits_.last(n_vocab_);
  return {};
}

void InStep::start(std::span<const int32_t> ids) {
  const auto rows = options_.all_rows ? model::Forward::Rows::kAll : model::Forward::Rows::kLast;
  for (Run* run : {&a_, &forced_, &free_}) {
    if (run->decoder == nullptr || !run->failure.empty()) continue;
    run->decoder->set_cancel(options_.cancel);
    const bool can_share = run->decoder->pool().n_threads() == pool_->n_threads();
    run->forward.emplace(*run->decoder, ids, rows, can_share ? pool_ : nullptr);
  }
}

Result<RowsOfA> InStep::rows_of_a() {
  if (a_.decoder == nullptr) {
    const trace::Rows* const found = recording_.find(forced_.forward->site().info().name);
    if (found == nullptr) return RowsOfA{};
    return RowsOfA{found->first_position, found->width, found->values, found->kv_positions};
  }
  if (!a_.is_at_op) return RowsOfA{};
  const model::OpSite& site = a_.forward->site();
  const model::RowShape shape = site.output_shape();
  if (site.info().kind == PLUMB_OP_KV_APPEND) {
    PLUMB_TRY(site.read_kv(0, shape.n_rows, values_, kv_positions_));
    return RowsOfA{0, shape.width, values_, kv_positions_};
  }
  PLUMB_ASSIGN(const std::span<const float> values, site.view_output(values_));
  return RowsOfA{shape.first_position, shape.width, values, {}};
}

Result<void> InStep::compare_op(OpComparison& comparison) {
  if (!forced_.is_at_op) return {};
  const model::OpSite& forced = forced_.forward->site();
  PLUMB_ASSIGN(const RowsOfA rows, rows_of_a());
  if (rows.width == 0) {
    comparison.add_without_rows(forced.info().name);
    return {};
  }
  PLUMB_TRY(explain_moved(rows));
  return comparison.compare(rows, forced, free_.is_at_op ? &free_.forward->site() : nullptr,
                            n_evicted());
}

Result<void> InStep::explain_moved(const RowsOfA& rows) {
  const model::OpSite& site = forced_.forward->site();
  const model::KvWindow& window = forced_.decoder->sequence().window();
  if (moved_cause_ || site.info().kind != PLUMB_OP_KV_APPEND || n_evicted() == 0 ||
      window.state().exact_from != window.n_fed())
    return {};
  const uint32_t first = window.eviction().begin, end = window.n_rows();
  if (first >= end || rows.first_position != 0 || rows.n_rows() < end) return {};
  std::vector<float> of_b;
  std::vector<int32_t> positions;
  PLUMB_TRY(site.read_kv(first, end - first, of_b, positions));
  const MovedRows moved{.a = rows.values.subspan(size_t{first} * rows.width, of_b.size()),
                        .b = of_b,
                        .n_gone = window.eviction().size(),
                        .last_position = end,
                        .layer = site.info().layer};
  if (auto cause = explain_moved_keys(*side_b_, moved))
    moved_cause_ = MovedCause{site.info().name, *std::move(cause)};
  return {};
}

uint32_t InStep::n_evicted() const {
  const model::KvWindow& window = forced_.decoder->sequence().window();
  return static_cast<uint32_t>(window.n_fed() - window.n_rows());
}

void InStep::compare_logits(const OnLogits& on_logits) {
  if (!a_.logits().empty()) logits_of_a_ = a_.logits().last(n_vocab_);
  for (Run* run : {&a_, &forced_, &free_}) {
    if (n_ids_ == 1 && !run->logits().empty())
      run->last_logits.assign(run->logits().begin(), run->logits().end());
  }
  const Run& of_b = free_.decoder != nullptr ? free_ : forced_;
  const std::span<const float> rows_b = of_b.logits();
  for (size_t at = 0; at < rows_b.size(); at += n_vocab_) {
    const uint32_t position =
        of_b.forward->logits_position() + n_evicted() + static_cast<uint32_t>(at / n_vocab_);
    const size_t in_recorded = size_t{position - recorded_position_} * n_vocab_;
    const auto rows_a =
        a_.decoder != nullptr
            ? a_.logits().subspan(std::min(at, a_.logits().size()))
            : recorded_logits_.subspan(std::min(in_recorded, recorded_logits_.size()));
    if (!rows_a.empty()) on_logits(position, rows_a.first(n_vocab_), rows_b.subspan(at, n_vocab_));
  }
}

Result<void> InStep::forward(std::span<const int32_t> ids, OpComparison& comparison,
                             const OnLogits& on_logits) {
  logits_of_a_ = {};
  n_ids_ = static_cast<uint32_t>(ids.size());
  last_id_ = ids.back();
  for (Run* run : {&a_, &forced_, &free_}) run->last_logits.clear();
  PLUMB_TRY(record(ids));
  start(ids);
  const auto run_all = [&]() -> Result<void> {
    while (true) {
      bool goes_on = false;
      for (Run* run : {&a_, &forced_, &free_}) {
        PLUMB_ASSIGN(const bool moved, run->advance());
        goes_on = goes_on || moved;
      }
      if (!goes_on) return {};
      PLUMB_TRY(compare_op(comparison));
      compare_logits(on_logits);
    }
  };
  Result<void> done = run_all();
  for (Run* run : {&a_, &forced_, &free_}) {
    run->forward.reset();
    if (run->decoder != nullptr) run->decoder->set_cancel(nullptr);
  }
  if (!a_.failure.empty()) logits_of_a_ = {};
  n_fed_ += static_cast<uint32_t>(ids.size());
  return done;
}

Result<bool> InStep::has_other_bits_in_lists(Run& run) {
  if (run.decoder == nullptr || run.last_logits.empty() || !run.failure.empty()) return false;
  model::Decoder& decoder = *run.decoder;
  const std::span<const int32_t> id(&last_id_, 1);
  decoder.set_cancel(options_.cancel);
  const auto run_again = [&]() -> Result<bool> {
    model::Sequence& sequence = decoder.sequence();
    PLUMB_TRY(sequence.rewind(sequence.window().n_fed() - 1));
    PLUMB_ASSIGN(const std::span<const float> logits, decoder.forward(id));
    return std::memcmp(logits.data(), run.last_logits.data(), logits.size_bytes()) != 0;
  };
  auto found = run_again();
  decoder.set_cancel(nullptr);
  // When it was watched it had no such error.
  if (!found && found.error().code == PLUMB_NUMERIC) return true;
  return found;
}

Result<std::string> InStep::with_other_bits_in_lists() {
  Run recorded{.decoder = side_a_->decoder(), .failure = a_.failure};
  if (n_ids_ == 1) recorded.last_logits.assign(logits_of_a_.begin(), logits_of_a_.end());
  PLUMB_ASSIGN(const bool of_a, has_other_bits_in_lists(a_.decoder != nullptr ? a_ : recorded));
  PLUMB_ASSIGN(const bool of_b,
               has_other_bits_in_lists(free_.decoder != nullptr ? free_ : forced_));
  return std::string(of_a && of_b ? "A and B" : of_a ? "A" : of_b ? "B" : "");
}

}  // namespace plumbline::diff
