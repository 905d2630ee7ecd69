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
  if (!std::isfinite(error) || !std::isfinite(of)) return kInfinity;
  if (error == 0) return 0;
  const double size = of > 0 ? of : of_mean;
  return size > 0 ? std::sqrt(error / size) : kInfinity;
}

}  // namespace

bool OpComparison::wants(const model::OpInfo& op) {
  return op.kind != PLUMB_OP_QUANTIZE && of_a_->find(op.name) != nullptr;
}

OpComparison::Entry& OpComparison::entry_of(const model::OpInfo& op, uint32_t width) {
  const auto [at, is_new] = index_.try_emplace(op.name, entries_.size());
  if (!is_new) return entries_[at->second];
  Entry entry;
  entry.errors.op = op.name;
  entry.errors.layer = op.layer;
  entry.errors.kind = model::op_kind_name(op.kind);
  entry.width = width;
  entry.errors.budget = budget_of(op);
  for (const model::Operand& operand : op.operands) {
    if (!operand.writer.empty()) entry.inputs.push_back(operand.writer);
  }
  entries_.push_back(std::move(entry));
  return entries_.back();
}

std::optional<double> OpComparison::budget_of(const model::OpInfo& op) const {
  const NumericsClass* const own_a = a_->op_class(op.name);
  const NumericsClass& of_a = own_a != nullptr ? *own_a : a_->numerics();
  const NumericsClass* const own_b = b_->op_class(op.name);
  const NumericsClass& of_b = own_b != nullptr ? *own_b : b_->numerics();
  const bool promises_equal = of_a == of_b && of_a.promises_equal_bits() &&
                              (op.weight.empty() || same_tensor(*a_, *b_, op.weight)) &&
                              (op.bias.empty() || same_tensor(*a_, *b_, op.bias));
  if (promises_equal) return 0;
  if (noise_ == nullptr) return std::nullopt;
  return noise_->op_budget(model::op_kind_name(op.kind), of_a, of_b);
}

// The first row beyond the budget stays; until there is one, the worst.
void OpComparison::keep_example(Entry& entry, uint32_t position, const RowSums& sums,
                                std::span<const float> a, std::span<const float> b) {
  OpErrors& errors = entry.errors;
  if (errors.example && errors.example->is_over) return;
  const double error = relative(sums.introduced, sums.a, 0);
  const bool is_over = errors.budget && (*errors.budget == 0 || error > *errors.budget);
  if (errors.example && !is_over && error <= entry.example_error) return;
  entry.example_error = error;
  OpErrors::Example example{position, 0, 0, 0, is_over};
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

Result<void> OpComparison::after(model::OpSite& site) {
  const model::OpInfo& info = site.info();
  const model::RowShape shape = site.output_shape();
  const trace::Rows& recorded = *of_a_->find(info.name);
  if (recorded.width != shape.width) {
    return Error{PLUMB_INCOMPATIBLE, "op " + info.name + " has rows of " +
                                         std::to_string(recorded.width) + " values in A and of " +
                                         std::to_string(shape.width) + " in B"};
  }
  const std::span<const float> all_of_a =
      of_a_->rows(info.name, shape.first_position, shape.n_rows);
  if (all_of_a.empty()) return {};
  PLUMB_TRY(site.read_output(values_));

  // Of a KV cache the rows that this op wrote: the others were compared when they were new.
  const uint32_t n_new = std::min(site.op().n_rows, shape.n_rows);
  const uint32_t first_new = shape.first_position + shape.n_rows - n_new;
  const size_t width = shape.width;
  const auto rows_a = all_of_a.last(n_new * width);
  const auto rows_forced = std::span<const float>(values_).last(n_new * width);
  const std::span<const float> rows_free =
      of_b_ == nullptr ? std::span<const float>() : of_b_->rows(info.name, first_new, n_new);

  Entry& entry = entry_of(info, shape.width);
  if (entry.rows.empty()) entry.errors.first_position = first_new;
  if (first_new < entry.errors.first_position) return {};
  const size_t at = first_new - entry.errors.first_position;
  entry.rows.resize(std::max(entry.rows.size(), at + n_new));
  const uint32_t n_parts =
      rows_a.size() > kValuesForOneThread ? std::min(n_new, 4 * pool_->n_at_work()) : 1;
  pool_->run(n_parts, [&](uint32_t, uint32_t part) {
    const size_t begin = size_t{n_new} * part / n_parts;
    const size_t end = size_t{n_new} * (part + 1) / n_parts;
    for (size_t row = begin; row < end; ++row) {
      entry.rows[at + row] =
          compare_row(rows_a.subspan(row * width, width), rows_forced.subspan(row * width, width),
                      rows_free.empty() ? rows_free : rows_free.subspan(row * width, width));
    }
  });
  bool differs = false;
  for (uint32_t row = 0; row < n_new; ++row) {
    const RowSums& sums = entry.rows[at + row];
    if (sums.n_bits_differ == 0) continue;
    differs = true;
    keep_example(entry, first_new + row, sums, rows_a.subspan(row * width, width),
                 rows_forced.subspan(row * width, width));
  }
  return differs ? site.write_output(all_of_a) : Result<void>();
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
    finish_errors(entry);
    OpErrors& errors = entry.errors;
    const bool is_within = errors.budget && errors.introduced_worst <= *errors.budget;
    errors.verdict = errors.n_bits_differ == 0              ? Verdict::kMatch
                     : errors.budget && *errors.budget == 0 ? Verdict::kWrong
                     : is_within                            ? Verdict::kDrift
                                                            : Verdict::kUnexplained;
  }
  for (Entry& entry : entries_) {
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
