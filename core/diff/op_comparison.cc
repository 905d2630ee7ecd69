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

// How much a value tells of a row's error. What is no finite number makes the whole error none: the
// first that one side alone has, else the first that both have.
std::pair<int, double> weight_of(float a, float b) {
  const bool is_a_finite = std::isfinite(a), is_b_finite = std::isfinite(b);
  if (is_a_finite != is_b_finite) return {2, 0};
  if (!is_a_finite) return {1, 0};
  return {0, std::abs(double{b} - double{a})};
}

// The value of a row that differs most.
void show_worst(std::span<const float> a, std::span<const float> b, OpErrors::Example& example) {
  std::pair<int, double> largest{0, -1};
  for (size_t i = 0; i < a.size(); ++i) {
    const std::pair<int, double> weight = weight_of(a[i], b[i]);
    const bool differs = std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i]);
    if ((!differs && weight.first == 0) || weight <= largest) continue;
    largest = weight;
    example.channel = static_cast<uint32_t>(i);
    example.a = a[i];
    example.b = b[i];
  }
}

bool is_worse(const RowSums& sums, const RowSums& than) {
  return sums.n_bits_differ > than.n_bits_differ || sums.introduced > than.introduced ||
         std::isnan(sums.introduced);
}

}  // namespace

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

// Whether this row takes the place of the example: the first beyond the budget stays, and until
// there is one, the worst.
bool OpComparison::is_example(Entry& entry, const RowSums& sums) {
  const OpErrors& errors = entry.errors;
  if (entry.is_over) return false;
  const double error = relative(sums.introduced, sums.a, 0);
  // The budget of other codes is a row's own: split_worst judges that.
  entry.is_over = !entry.codes && errors.budget && (*errors.budget == 0 || error > *errors.budget);
  if (errors.example && !entry.is_over && error <= entry.example_error) return false;
  entry.example_error = error;
  return true;
}

// The worst row of a forward, where none before was worse. first: of the rows, in the site's.
// Returns the row if it is beyond its bounds.
Result<std::optional<size_t>> OpComparison::split_worst(Entry& entry, const model::OpSite& site,
                                                        uint32_t first, std::span<const float> a,
                                                        std::span<const float> b) const {
  const std::optional<size_t> none;
  double largest = -1;
  size_t worst = 0;
  for (size_t row = 0; row < sums_.size(); ++row) {
    const double error = relative(sums_[row].introduced, sums_[row].a, 0);
    if (error <= largest) continue;
    largest = error;
    worst = row;
  }
  const bool is_first_of_one = sums_.size() == 1 && !entry.has_split_of_one;
  if (largest <= entry.largest_split && !is_first_of_one) return none;
  entry.has_split_of_one |= sums_.size() == 1;
  PLUMB_ASSIGN(const std::optional<OpErrors::Split> split,
               entry.codes->split(site, first + static_cast<uint32_t>(worst),
                                  a.subspan(worst * entry.width, entry.width),
                                  b.subspan(worst * entry.width, entry.width), *pool_));
  if (!split) return none;
  OpErrors& errors = entry.errors;
  const double budget =
      split->weights_bound + split->activations_bound + split->arithmetic_bound.value_or(0);
  if (largest > entry.largest_split) {
    entry.largest_split = largest;
    errors.budget = budget;
  }
  if (bound_used(*split) > bound_used(*errors.split)) errors.split = split;
  const bool is_over = largest > budget || verdict_of(*split) > Verdict::kDrift;
  return is_over ? worst : none;
}

// first, n: of the op's rows.
Result<void> OpComparison::read(const model::OpSite& site, uint32_t first, uint32_t n, Output& to) {
  const model::RowShape shape = site.output_shape();
  to.kv_positions.clear();
  if (site.info().kind == PLUMB_OP_KV_APPEND) {
    PLUMB_TRY(site.read_kv(first, n, to.room, to.kv_positions));
    to.values = to.room;
    return {};
  }
  PLUMB_ASSIGN(const std::span<const float> all, site.view_output(to.room));
  to.values =
      all.subspan(size_t{first - shape.first_position} * shape.width, size_t{n} * shape.width);
  return {};
}

// A's rows from first on in the place of B's.
Result<void> OpComparison::hand_over(const RowsOfA& a, const model::OpSite& forced, uint32_t first,
                                     uint32_t n) {
  const model::RowShape shape = forced.output_shape();
  const size_t at = first - a.first_position;
  const auto rows = a.values.subspan(at * a.width, size_t{n} * a.width);
  if (forced.info().kind == PLUMB_OP_KV_APPEND) {
    const auto positions = a.kv_positions.empty() ? a.kv_positions : a.kv_positions.subspan(at, n);
    return forced.write_kv(first, rows, positions);
  }
  if (n == shape.n_rows) return forced.write_output(rows);
  std::vector<float> all;
  PLUMB_TRY(forced.read_output(all));
  std::copy(rows.begin(), rows.end(),
            all.begin() +
                static_cast<std::ptrdiff_t>(size_t{first - shape.first_position} * shape.width));
  return forced.write_output(all);
}

Result<void> OpComparison::compare(const RowsOfA& a, const model::OpSite& forced,
                                   const model::OpSite* free, uint32_t n_evicted) {
  const model::OpInfo& info = forced.info();
  const model::RowShape shape = forced.output_shape();
  if (a.width != shape.width) {
    return Error{PLUMB_INCOMPATIBLE, "op " + info.name + " has rows of " + std::to_string(a.width) +
                                         " values in A and of " + std::to_string(shape.width) +
                                         " in B"};
  }
  Entry& entry = entry_of(info, shape.width);
  const uint32_t shift = info.kind == PLUMB_OP_KV_APPEND ? 0 : n_evicted;
  entry.first_in_a = std::min(entry.first_in_a, shift + a.first_position);
  entry.end_in_a = std::max(entry.end_in_a, shift + a.first_position + a.n_rows());
  entry.first_in_b = std::min(entry.first_in_b, shift + shape.first_position);
  entry.end_in_b = std::max(entry.end_in_b, shift + shape.first_position + shape.n_rows);
  // An engine may leave out rows that nothing reads: those that both have are compared. Of a KV
  // cache that is all rows each time: an op may damage a row that was right when it was new.
  const uint32_t first = std::max(shape.first_position, a.first_position);
  const uint32_t end = std::min(shape.first_position + shape.n_rows, a.first_position + a.n_rows());
  if (first >= end) return {};
  if (entry.rows.empty()) entry.errors.first_position = shift + first;
  if (shift + first < entry.errors.first_position) return {};

  const uint32_t n = end - first;
  const size_t width = shape.width;
  const size_t at = shift + first - entry.errors.first_position;
  const size_t n_seen = entry.rows.size() > at ? entry.rows.size() - at : 0;
  const auto n_old = static_cast<uint32_t>(std::min<size_t>(n_seen, n));
  entry.rows.resize(std::max(entry.rows.size(), at + n));
  PLUMB_TRY(read(forced, first, n, forced_));
  // What B's own run left is counted once, when it is new.
  const bool has_free = free != nullptr && n_old < n;
  if (has_free) PLUMB_TRY(read(*free, first + n_old, n - n_old, free_));
  const auto row_of = [&](std::span<const float> rows, size_t row) {
    return rows.subspan(row * width, width);
  };
  const auto rows_a = a.values.subspan((first - a.first_position) * width, n * width);
  sums_.assign(n, {});
  const uint32_t n_parts =
      rows_a.size() > kValuesForOneThread ? std::min(n, 4 * pool_->n_at_work()) : 1;
  pool_->run(n_parts, [&](uint32_t, uint32_t part) {
    const size_t begin = size_t{n} * part / n_parts;
    const size_t behind = size_t{n} * (part + 1) / n_parts;
    for (size_t row = begin; row < behind; ++row) {
      sums_[row] = compare_row(
          row_of(rows_a, row), row_of(forced_.values, row),
          has_free && row >= n_old ? row_of(free_.values, row - n_old) : std::span<const float>());
    }
  });
  // A place of this forward: the last row is new.
  const uint32_t newest = n_evicted + end - 1;
  bool differs = false;
  std::optional<uint32_t> example_row;
  const auto example_at = [&](uint32_t row) {
    return OpErrors::Example{.position = shift + first + row,
                             .computed_at = row < n_old ? newest : n_evicted + first + row};
  };
  for (uint32_t row = 0; row < n; ++row) {
    RowSums& sums = sums_[row];
    OpErrors::Example place = example_at(row);
    if (!a.kv_positions.empty()) {
      const int32_t in_a = a.kv_positions[first + row - a.first_position];
      const int32_t in_b = forced_.kv_positions[row];
      if (in_a != in_b) {
        // A row is read elsewhere: no size of its values measures that.
        ++sums.n_bits_differ;
        sums.introduced = kInfinity;
        place.held_at_a = in_a;
        place.held_at_b = in_b;
      }
    }
    RowSums& held = entry.rows[at + row];
    if (row >= n_old) {
      held = sums;
    } else if (is_worse(sums, held)) {
      held.a = sums.a;
      held.introduced = sums.introduced;
      held.n_bits_differ = sums.n_bits_differ;
    }
    if (sums.n_bits_differ == 0) continue;
    differs = true;
    if (!is_example(entry, sums)) continue;
    entry.errors.example = place;
    entry.errors.example->is_over = entry.is_over;
    example_row = row;
  }
  if (differs && entry.codes) {
    PLUMB_ASSIGN(const std::optional<size_t> over,
                 split_worst(entry, forced, first - shape.first_position, rows_a, forced_.values));
    if (over && !entry.is_over) {
      entry.is_over = true;
      example_row = static_cast<uint32_t>(*over);
      entry.errors.example = example_at(*example_row);
      entry.errors.example->is_over = true;
    }
  }
  if (example_row) {
    show_worst(row_of(rows_a, *example_row), row_of(forced_.values, *example_row),
               *entry.errors.example);
  }
  if (!differs) return {};
  return hand_over(a, forced, first, n);
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
    for (const RowSums& row : entry.rows) {
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
  if (!runs_freely_) return;
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
    n_rows_not_compared_ += entry.end_in_a - entry.first_in_a - n;
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
