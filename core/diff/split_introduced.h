// split_introduced.h: the introduced error of an op whose sides read other codes (weights or
// activations in another format), in three parts. Each of them has a bound of its own, so that what
// a format costs does not hide what a kernel does.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/diff/op_evaluator.h"
#include "core/diff/report.h"

namespace plumbline::diff {

/// What one side makes of a row.
struct CodedSide {
  const plumb_tensor* weight = nullptr;  // [n_out,n_in]; of embed the whole table
  bool is_quantised = false;  // it reads x in integer codes
  std::span<const float> output;  // f32[n_out]
  std::optional<double> kernel_budget;  // of the kernel against exact sums of the same codes
};

/// One row of a product, or of embed, on the same input.
struct CodedRow {
  CodedSide a, b;
  std::span<const float> x;  // f32[n_in]; empty: embed
  uint32_t id = 0;  // embed: the row of the table
  std::vector<float> bias;  // empty: none
};

/// The parts add up to B - A: other weights, other activations, and what the two kernels make of
/// their own codes. Bounds: what the formats' round trips do to this row, and both kernel budgets.
/// Nothing where the row is zero, or shapes or formats do not fit.
std::optional<OpErrors::Split> split_introduced(const CodedRow& row, ThreadPool& pool);

/// The largest part in units of its bound: above 1 one of them is beyond it. Without a level of the
/// kernels infinite, unless nothing is left to them.
double bound_used(const OpErrors::Split& split);

/// MATCH never; WRONG: beyond a format's round trip; UNEXPLAINED: beyond the kernels' budget.
Verdict verdict_of(const OpErrors::Split& split);

}  // namespace plumbline::diff
