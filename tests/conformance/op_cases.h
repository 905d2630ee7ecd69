// op_cases.h: what every kernels plugin is asked to compute, and how far from the oracle it may be.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/kernels_harness.h"
#include "tests/support/random_tensors.h"

namespace plumbline::test {

/// How one case is run: rows [first_row, first_row + n_rows) of its T, in n_parts, the output over
/// the input or not.
struct RunPlan {
  uint32_t first_row = 0;
  uint32_t n_rows = 1;
  uint32_t n_parts = 1;
  bool in_place = false;
};

struct OpRun {
  Outcome outcome;
  std::vector<float> out;  // of the rows that were run
};

/// One op on fixed inputs.
struct OpCase {
  std::string kind;  // the op, its variant and formats
  std::string shape;
  plumb_op_query query;  // what supports() is asked
  uint32_t n_rows;  // T
  bool can_split;  // rows may be run in several calls
  bool can_be_in_place;
  std::function<OpRun(Rig&, const RunPlan&)> run;
  /// Per element, from the oracle's output: how far an f32 implementation may be from it. Empty:
  /// not at all. Not asked for extreme inputs.
  std::function<std::vector<double>(const std::vector<float>& oracle)> bound;

  std::string name() const { return kind + " " + shape; }
};

/// Cases of one family: every kind of shape once in each draw. Same draw, same cases.
std::vector<OpCase> matmul_cases(uint32_t draw, Inputs inputs);
std::vector<OpCase> attend_cases(uint32_t draw, Inputs inputs);
/// embed, norms, quantize, rope, elementwise functions, argmax.
std::vector<OpCase> row_cases(uint32_t draw, Inputs inputs);

struct CaseFamily {
  const char* name;
  std::vector<OpCase> (*make)(uint32_t draw, Inputs inputs);
};
inline constexpr CaseFamily kCaseFamilies[] = {
    {"matmul", matmul_cases}, {"attend", attend_cases}, {"rows", row_cases}};

/// Every case of some draws. body(const OpCase&, uint32_t draw).
template <typename Body>
void for_each_case(const CaseFamily& family, Inputs inputs, uint32_t n_draws, Body body) {
  for (uint32_t draw = 0; draw < n_draws; ++draw) {
    for (const OpCase& op_case : family.make(draw, inputs)) body(op_case, draw);
  }
}

// ---- Bounds

/// Half the distance from 1 to the next f32.
inline constexpr double kRoundoff = 0x1p-24;
inline constexpr double kSmallest = 0x1p-149;

/// n roundings in a row: |error| <= gamma(n) * magnitude. Source: Higham, "Accuracy and Stability
/// of Numerical Algorithms", lemma 3.1.
inline double gamma(double n) {
  return n * kRoundoff / (1 - n * kRoundoff);
}

// ---- For those who write cases

plumb_op_query query_of(uint32_t kind, uint64_t n_in = 0, uint64_t n_out = 0, uint32_t variant = 0);

/// The rows of a plan, out of values of [T, width].
template <typename T>
std::vector<T> rows_of(const std::vector<T>& values, uint64_t width, const RunPlan& plan) {
  const auto begin = values.begin() + static_cast<int64_t>(plan.first_row * width);
  return {begin, begin + static_cast<int64_t>(plan.n_rows * width)};
}

/// Runs an op that writes `out_values` floats to its slice `out`.
OpRun run_op(Rig& rig, const plumb_op& op, const RunPlan& plan, plumb_slice out,
             uint64_t out_values);

}  // namespace plumbline::test
