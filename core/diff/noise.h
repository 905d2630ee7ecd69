// noise.h: how far two kinds of arithmetic may lie apart: levels by pair class, from a data file.
//
// A pair class is what is known of the arithmetic on both sides. Levels are measured, never chosen:
// core/doc/noise.md. How they judge: core/doc/diff.md, "Noise levels".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diff/report.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// One side's arithmetic, of an op or of the whole.
struct NumericsClass {
  std::string numerics;  // a backend's class: "canonical-1"
  std::string activations;  // "q8", "f32"
  std::string kv;  // "f32", "f16"
  std::string weights;  // formats of the matrices, "Q4_1", "Q4_K+Q6_K"

  std::string text() const;
  /// Only equal names promise equal bits, and "fast" never does: plumb/ext/kernels.h.
  bool promises_equal_bits() const { return numerics != "fast"; }
  bool operator==(const NumericsClass&) const = default;
};

/// How an entry was measured, once for each model.
struct NoiseRun {
  std::string model;
  std::string prompts;  // the file, its hash, the half that was taken
  uint32_t n_prompts = 0;
  uint64_t n_rows = 0;  // of logits
  double headroom = 0;  // the level is so many times the largest that was seen
  std::string kernels_a, kernels_b;  // the libraries, or the engine and its version
  std::string date;  // "2026-11-30"
};

/// One entry of the file. A and B may be exchanged. "*" on both sides: whatever it is, the same.
struct NoiseLevel {
  NumericsClass a, b;
  std::map<std::string, double, std::less<>> op_budgets;  // by kind of op: introduced_worst
  double gap_noise = 0;  // LogitErrors::gap_change, in sigma
  double row_noise = 0;  // LogitErrors::row_change, in sigma; infinite: not known
  std::vector<NoiseRun> runs;
};

/// What healthy pairs of a report's class were seen to do: the largest of each, times headroom,
/// with one run of which the report says all but prompts and date. Not of products that were
/// judged by their codes, which need none. Never 0, which would demand equal bits. Fails
/// INVALID_ARGUMENT for a report that is none of a healthy pair (nothing compared, WRONG, a run
/// that failed, an error that is no finite number) or of one that needs no level: equal bits are
/// promised, or a side has several backends, each of which has a level of its own.
Result<NoiseLevel> measured_level(const Report& report, double headroom);

class NoiseTable {
 public:
  /// The file's text; where: for messages. Fails CORRUPT: which entry is wrong, and how.
  static Result<NoiseTable> parse(std::string_view json, const std::string& where);

  /// Of introduced_worst of an op of that kind, for its own two classes, whose empty fields do not
  /// matter: the largest of the entries that fit. Where none does, the sum over entries that lead
  /// from one class to the other, a field at a time: errors add up at most.
  std::optional<double> op_budget(std::string_view kind, const NumericsClass& a,
                                  const NumericsClass& b) const;
  /// What an op of one class may leave of the exact result of its own codes: its budget against the
  /// f64 oracle.
  std::optional<double> kernel_budget(std::string_view kind, const NumericsClass& of) const;
  /// Of gap_change and row_change, for the classes of two whole sides, found as an op's budget is.
  /// Where a side has several backends, that of each pair of unequal ones is looked for, and the
  /// largest taken.
  std::optional<double> gap_noise(const NumericsClass& a, const NumericsClass& b) const;
  std::optional<double> row_noise(const NumericsClass& a, const NumericsClass& b) const;
  const std::vector<NoiseLevel>& levels() const { return levels_; }
  /// Adds an entry; to one for the same classes it is joined: the larger of each level.
  void add(const NoiseLevel& level);
  /// A file that parse reads.
  std::string text() const;
  /// The file and its hash.
  const std::string& source() const { return source_; }

 private:
  std::optional<double> logit_noise(double NoiseLevel::*level, const NumericsClass& a,
                                    const NumericsClass& b) const;

  std::vector<NoiseLevel> levels_;
  std::string source_;
};

/// What a pair's logits may differ by, in sigma; empty: no level is known.
struct LogitNoise {
  std::optional<double> gap;  // LogitErrors::gap_change; 0: equal bits are demanded
  std::optional<double> row;  // LogitErrors::row_change
};

/// table: null: no level is known.
LogitNoise logit_noise(const NoiseTable* table, const NumericsClass& a, const NumericsClass& b,
                       bool demands_equal);

}  // namespace plumbline::diff
