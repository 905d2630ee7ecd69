// op_comparison.h: door 20, forced: every op of B is run on what A left, and its output is compared
// with A's.
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

namespace plumbline::diff {

/// What A left at an op: rows by position, as many as are known.
struct RowsOfA {
  uint32_t first_position = 0;
  uint32_t width = 0;
  std::span<const float> values;
  std::span<const int32_t> kv_positions;  // of the rows of a KV cache; empty: nobody can tell

  uint32_t n_rows() const { return width == 0 ? 0 : static_cast<uint32_t>(values.size() / width); }
};

/// Behind each op that B ran on A's inputs it puts A's rows in the place of B's, so that every
/// reader reads A's: the next op's inputs are A's, and so is the KV cache, positions included. What
/// A did not leave stays B's own, computed from A's: that joins the regions of a foreign engine.
class OpComparison {
 public:
  /// runs_freely: B also runs on its own. noise: null: no level is known. All must outlive it.
  OpComparison(Side& a, Side& b, bool runs_freely, ThreadPool& pool, const NoiseTable* noise)
      : a_(&a), b_(&b), runs_freely_(runs_freely), pool_(&pool), noise_(noise) {}

  /// forced: B's op, just run on A's inputs. free: the same op on B's own, or null. n_evicted: ids
  /// whose rows went; positions are places in the stream, but for rows of a KV cache, which keep
  /// their index. Fails INCOMPATIBLE where the widths differ.
  Result<void> compare(const RowsOfA& a, const model::OpSite& forced, const model::OpSite* free,
                       uint32_t n_evicted = 0);
  /// B ran an op of which A left nothing.
  void add_without_rows(const std::string& op) { ops_without_rows_.insert(op); }

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
    // All rows that each side left.
    uint32_t first_in_a = UINT32_MAX, end_in_a = 0;
    uint32_t first_in_b = UINT32_MAX, end_in_b = 0;
    double example_error = 0;
    bool is_over = false;  // the example is beyond the budget
    std::optional<OpCodes> codes;  // where the sides read others
    double largest_split = -1;  // the error of the worst row that was split
    bool has_split_of_one =
        false;  // of a forward of one row, for which kernels have code of its own
  };
  /// Rows that B left, and room for those that the host cannot see where they lie.
  struct Output {
    std::span<const float> values;
    std::vector<float> room;
    std::vector<int32_t> kv_positions;
  };
  static Result<void> read(const model::OpSite& site, uint32_t first, uint32_t n, Output& to);
  Entry& entry_of(const model::OpInfo& op, uint32_t width);
  std::optional<double> budget_of(const model::OpInfo& op) const;
  static bool is_example(Entry& entry, const RowSums& sums);
  Result<std::optional<size_t>> split_worst(Entry& entry, const model::OpSite& site, uint32_t first,
                                            std::span<const float> a,
                                            std::span<const float> b) const;
  void finish_errors(Entry& entry) const;
  Result<void> hand_over(const RowsOfA& a, const model::OpSite& forced, uint32_t first, uint32_t n);

  Side* a_;
  Side* b_;
  bool runs_freely_;
  ThreadPool* pool_;
  const NoiseTable* noise_;
  std::vector<Entry> entries_;
  std::map<std::string, size_t, std::less<>> index_;
  std::set<std::string> ops_without_rows_;
  uint64_t n_rows_not_compared_ = 0;
  // Of one call.
  std::vector<RowSums> sums_;
  Output forced_, free_;
};

}  // namespace plumbline::diff
