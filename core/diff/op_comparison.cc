#include "core/diff/op_comparison.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/model/placement.h"

namespace plumbline::diff {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Fewer values are compared sooner than a second thread has begun.
constexpr uint64_t kValuesForOneThread = 8192;

// sqrt(error / of), where a row of zeros has no size of its own: then the op's mean row has one.
double relative(double error, double of, double of_mean) {
  if (error == 0) return 0;
  if (!std::isfinite(error) || !std::isfinite(of)) return kInfinity;
  const double size = of > 0 ? of : of_mean;
  return size > 0 ? std::sqrt(error / size) : kInfinity;
}

bool is_worse(const RowSums& sums, const RowSums& than) {
  return sums.n_bits_differ > than.n_bits_differ || sums.introduced > than.introduced ||
         std::isnan(sums.introduced);
}

}  // namespace

bool OpComparison::wants(const model::OpInfo& op) {
  if (op.kind == PLUMB_OP_QUANTIZE) return false;
  const bool is_recorded = of_a_->find(op.name) != nullptr;
  if (!is_recorded) ops_without_rows_.insert(op.name);
  return is_recorded;
}

OpComparison::Entry& OpComparison::entry_of(const model::OpInfo& op, uint32_t width) {
  const auto [at, is_new] = index_.try_emplace(op.name, entries_.size());
  if (!is_new) return entries_[at->second];
  Entry entry;
  entry.errors.op = op.name;
  entry.errors.layer = op.layer;
  entry.errors.kind = model::op_kind_name(op.kind);
  entry.width = width;
  entry.codes = OpCodes::of(*a_, *b_, op, noise_);
  if (entry.codes) {
    entry.errors.split.emplace();  // of nothing, as long as nothing differs
  } else {
    entry.errors.budget = budget_of(op);
  }
  for (const model::Operand& operand : op.operands) {
    if (!operand.writer.empty()) entry.inputs.push_back(operand.writer);
  }
  entries_.push_back(std::move(entry));
  return entries_.back();
}

std::optional<double> OpComparison::budget_of(const model::OpInfo& op) const {
  const NumericsClass &of_a = class_of(*a_, op), &of_b = class_of(*b_, op);
  const bool promises_equal = of_a == of_b && of_a.promises_equal_bits() &&
                              (op.weight.empty() || same_tensor(*a_, *b_, op.weight)) &&
                              (op.bias.empty() || same_tensor(*a_, *b_, op.bias));
  if (promises_equal) return 0;
  if (noise_ == nullptr) return std::nullopt;
  return noise_->op_budget(model::op_kind_name(op.kind), of_a, of_b);
}

// The first row beyond the budget stays; until there is one, the worst.
void OpComparison::keep_example(Entry& entry, uint32_t position, uint32_t computed_at,
                                const RowSums& sums, std::span<const float> a,
                                std::span<const float> b) {
  OpErrors& errors = entry.errors;
  if (errors.example && errors.example->is_over) return;
  const double error = relative(sums.introduced, sums.a, 0);
  const bool is_over = errors.budget && (*errors.budget == 0 || error > *errors.budget);
  if (errors.example && !is_over && error <= entry.example_error) return;
  entry.example_error = error;
  OpErrors::Example example;
  example.position = position;
  example.computed_at = computed_at;
  example.is_over = is_over;
  double largest = -1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<uint32_t>(a[i]) == std::bit_cast<uint32_t>(b[i])) continue;
    const double distance = std::abs(double{b[i]} - double{a[i]});
    if (!(distance <= largest)) {
      largest = std::isnan(distance) ? kInfinity : distance;
      example.channel = static_cast<uint32_t>(i);
      example.a = a[i];
      example.b = b[i];
    }
  }
  errors.example = example;
}

// The worst row of a forward, where none before was worse. first: of the rows, in the site's.
Result<void> OpComparison::split_worst(Entry& entry, const model::OpSite& site, uint32_t first,
                                       std::span<const float> a, std::span<const float> b) const {
  double largest = -1;
  size_t worst = 0;
  for (size_t row = 0; row < sums_.size(); ++row) {
    const double error = relative(sums_[row].introduced, sums_[row].a, 0);
    if (error <= largest) continue;
    largest = error;
    worst = row;
  }
  const bool is_first_of_one = sums_.size() == 1 && !entry.has_split_of_one;
  if (largest <= entry.largest_split && !is_first_of_one) return {};
  entry.has_split_of_one |= sums_.size() == 1;
  PLUMB_ASSIGN(const std::optional<OpErrors::Split> split,
               entry.codes->split(site, first + static_cast<uint32_t>(worst),
                                  a.subspan(worst * entry.width, entry.width),
                                  b.subspan(worst * entry.width, entry.width), *pool_));
  if (!split) return {};
  OpErrors& errors = entry.errors;
  if (largest > entry.largest_split) {
    entry.largest_split = largest;
    errors.budget =
        split->weights_bound + split->activations_bound + split->arithmetic_bound.value_or(0);
  }
  if (bound_used(*split) > bound_used(*errors.split)) errors.split = split;
  return {};
}

Result<void> OpComparison::after(model::OpSite& site) {
  const model::OpInfo& info = site.info();
  const model::RowShape shape = site.output_shape();
  const trace::Rows& recorded = *of_a_->find(info.name);
  PLUMB_TRY(of_a_->check_width(info.name, shape.width));
  Entry& entry = entry_of(info, shape.width);
  entry.first_in_b = std::min(entry.first_in_b, shape.first_position);
  entry.end_in_b = std::max(entry.end_in_b, shape.first_position + shape.n_rows);
  // An engine may leave out rows that nothing reads: those that both have are compared. Of a KV
  // cache that is all rows each time: an op may damage a row that was right when it was new.
  const uint32_t first = std::max(shape.first_position, recorded.first_position);
  const uint32_t end =
      std::min(shape.first_position + shape.n_rows, recorded.first_position + recorded.n_rows());
  if (first >= end) return {};
  if (entry.rows.empty()) entry.errors.first_position = first;
  if (first < entry.errors.first_position) return {};
  PLUMB_TRY(site.read_output(values_));

  const uint32_t n = end - first;
  const size_t width = shape.width;
  const auto rows_a = of_a_->rows(info.name, first, n);
  const auto rows_forced =
      std::span(values_).subspan((first - shape.first_position) * width, n * width);
  const std::span<const float> rows_free =
      of_b_ == nullptr ? std::span<const float>() : of_b_->rows(info.name, first, n);
  const size_t at = first - entry.errors.first_position;
  const size_t n_seen = entry.rows.size() > at ? entry.rows.size() - at : 0;
  entry.rows.resize(std::max(entry.rows.size(), at + n));
  sums_.assign(n, {});
  const uint32_t n_parts =
      rows_a.size() > kValuesForOneThread ? std::min(n, 4 * pool_->n_at_work()) : 1;
  pool_->run(n_parts, [&](uint32_t, uint32_t part) {
    const size_t begin = size_t{n} * part / n_parts;
    const size_t behind = size_t{n} * (part + 1) / n_parts;
    for (size_t row = begin; row < behind; ++row) {
      const bool has_free = !rows_free.empty() && row >= n_seen;
      sums_[row] =
          compare_row(rows_a.subspan(row * width, width), rows_forced.subspan(row * width, width),
                      has_free ? rows_free.subspan(row * width, width) : std::span<const float>());
    }
  });
  // A position of this forward: the last row is new.
  const uint32_t computed_at = end - 1;
  bool differs = false;
  for (uint32_t row = 0; row < n; ++row) {
    const RowSums& sums = sums_[row];
    RowSums& held = entry.rows[at + row];
    if (row >= n_seen) {
      held = sums;
    } else if (is_worse(sums, held)) {
      held.a = sums.a;
      held.introduced = sums.introduced;
      held.n_bits_differ = sums.n_bits_differ;
    }
    if (sums.n_bits_differ == 0) continue;
    differs = true;
    const uint32_t position = first + row;
    keep_example(entry, position, row < n_seen ? computed_at : position, sums,
                 rows_a.subspan(row * width, width), rows_forced.subspan(row * width, width));
  }
  if (!differs) return {};
  if (entry.codes)
    PLUMB_TRY(split_worst(entry, site, first - shape.first_position, rows_a, rows_forced));
  return trace::put_recorded(*of_a_, site, values_);
}

void OpComparison::finish_errors(Entry& entry) const {
  OpErrors& errors = entry.errors;
  errors.n_rows = static_cast<uint32_t>(entry.rows.size());
  errors.n_values = uint64_t{errors.n_rows} * entry.width;
  errors.introduced_by_row.assign(entry.rows.size(), 0);
  RowSums all;
  const bool differs = std::any_of(entry.rows.begin(), entry.rows.end(), [](const RowSums& row) {
    return row.n_bits_differ > 0 || row.total != 0;
  });
  if (differs) {
    for (size_t i = 0; i < entry.rows.size(); ++i) {
      RowSums& row = entry.rows[i];
      // compare_row leaves it out where nothing differs.
      if (row.a == 0) {
        row.a = sum_of_squares(
            of_a_->rows(errors.op, errors.first_position + static_cast<uint32_t>(i), 1));
      }
      all.a += row.a;
      all.introduced += row.introduced;
      all.inherited += row.inherited;
      all.total += row.total;
      all.n_bits_differ += row.n_bits_differ;
    }
  }
  const double mean = entry.rows.empty() ? 0 : all.a / static_cast<double>(entry.rows.size());
  errors.n_bits_differ = all.n_bits_differ;
  errors.introduced = relative(all.introduced, all.a, 0);
  for (size_t i = 0; differs && i < entry.rows.size(); ++i) {
    const double error = relative(entry.rows[i].introduced, entry.rows[i].a, mean);
    errors.introduced_by_row[i] = error;
    if (error > errors.introduced_worst) {
      errors.introduced_worst = error;
      errors.worst_position = errors.first_position + static_cast<uint32_t>(i);
    }
  }
  if (of_b_ == nullptr || of_b_->find(errors.op) == nullptr) return;
  errors.inherited = relative(all.inherited, all.a, 0);
  errors.total = relative(all.total, all.a, 0);
  errors.total_by_row.assign(entry.rows.size(), 0);
  for (size_t i = 0; differs && i < entry.rows.size(); ++i)
    errors.total_by_row[i] = relative(entry.rows[i].total, entry.rows[i].a, mean);
}

std::vector<OpErrors> OpComparison::finish() {
  std::vector<OpErrors> found;
  for (Entry& entry : entries_) {
    if (entry.rows.empty()) {
      ops_without_rows_.insert(entry.errors.op);
      continue;
    }
    const uint64_t n = entry.rows.size();
    n_rows_not_compared_ += of_a_->find(entry.errors.op)->n_rows() - n;
    n_rows_not_compared_ += entry.end_in_b - entry.first_in_b - n;
    finish_errors(entry);
    OpErrors& errors = entry.errors;
    const bool is_within = errors.budget && errors.introduced_worst <= *errors.budget;
    errors.verdict = errors.n_bits_differ == 0              ? Verdict::kMatch
                     : errors.budget && *errors.budget == 0 ? Verdict::kWrong
                     : is_within                            ? Verdict::kDrift
                                                            : Verdict::kUnexplained;
    if (errors.split && errors.n_bits_differ > 0)
      errors.verdict = worse(errors.verdict, verdict_of(*errors.split));
  }
  for (Entry& entry : entries_) {
    if (entry.rows.empty()) continue;
    double inputs = 0;
    for (const std::string& input : entry.inputs) {
      const auto at = index_.find(input);
      if (at == index_.end()) continue;
      const double total = entries_[at->second].errors.total.value_or(0);
      inputs += total * total;
    }
    if (entry.errors.inherited && inputs > 0 && std::isfinite(inputs))
      entry.errors.gain = *entry.errors.inherited / std::sqrt(inputs);
    found.push_back(entry.errors);
  }
  return found;
}

}  // namespace plumbline::diff
