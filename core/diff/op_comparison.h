// op_comparison.h: door 20, forced: every op of B is run on what A recorded, and its output is
// compared with A's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/diff/noise.h"
#include "core/diff/op_codes.h"
#include "core/diff/report.h"
#include "core/diff/row_errors.h"
#include "core/diff/side.h"
#include "core/model/op_observer.h"
#include "core/trace/recording.h"

namespace plumbline::diff {

/// Watches B while it gets A's ids. Behind each op that A recorded it puts A's rows in the place of
/// B's, so that every reader reads A's: an op's inputs are A's, and so is the KV cache. What A did
/// not record stays B's own, computed from A's: that joins the regions of a foreign engine.
class OpComparison : public model::OpObserver {
 public:
  /// of_b: what B left when it ran freely; null: it did not. noise: null: no level is known. All
  /// must outlive the comparison.
  OpComparison(Side& a, Side& b, const trace::Recording& of_a, const trace::Recording* of_b,
               ThreadPool& pool, const NoiseTable* noise)
      : a_(&a), b_(&b), of_a_(&of_a), of_b_(of_b), pool_(&pool), noise_(noise) {}

  bool wants(const model::OpInfo& op) override;
  /// Fails INCOMPATIBLE where the widths differ.
  Result<void> after(model::OpSite& site) override;

  /// What was found, in the order in which the ops run: of ops of which both have some row.
  std::vector<OpErrors> finish();
  /// Ops of B of which A recorded no row that B computes.
  const std::set<std::string>& ops_without_rows() const { return ops_without_rows_; }
  /// Of the others: rows that one side alone has. Of a finished comparison.
  uint64_t n_rows_not_compared() const { return n_rows_not_compared_; }

 private:
  struct Entry {
    OpErrors errors;
    uint32_t width = 0;
    std::vector<std::string> inputs;  // the ops that it reads from
    std::vector<RowSums> rows;
    uint32_t end_in_b = 0;  // behind the last row that B computed
    uint32_t first_in_b = UINT32_MAX;
    double example_error = 0;
    std::optional<OpCodes> codes;  // where the sides read others
    double largest_split = -1;  // the error of the worst row that was split
    bool has_split_of_one =
        false;  // of a forward of one row, for which kernels have code of its own
  };
  Entry& entry_of(const model::OpInfo& op, uint32_t width);
  std::optional<double> budget_of(const model::OpInfo& op) const;
  static void keep_example(Entry& entry, uint32_t position, uint32_t computed_at,
                           const RowSums& sums, std::span<const float> a, std::span<const float> b);
  Result<void> split_worst(Entry& entry, const model::OpSite& site, uint32_t first,
                           std::span<const float> a, std::span<const float> b) const;
  void finish_errors(Entry& entry) const;

  Side* a_;
  Side* b_;
  const trace::Recording* of_a_;
  const trace::Recording* of_b_;
  ThreadPool* pool_;
  const NoiseTable* noise_;
  std::vector<Entry> entries_;
  std::map<std::string, size_t, std::less<>> index_;
  std::set<std::string> ops_without_rows_;
  uint64_t n_rows_not_compared_ = 0;
  std::vector<float> values_;
  std::vector<RowSums> sums_;  // of the rows of one call
};

}  // namespace plumbline::diff
