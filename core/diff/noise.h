// noise.h: how far two kinds of arithmetic may lie apart: levels by pair class, from a data file.
//
// A pair class is what is known of the arithmetic on both sides. Levels are measured, never chosen:
// core/doc/diff.md, "Noise levels".
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

/// One entry of the file. A and B may be exchanged. "*" stands for anything.
struct NoiseLevel {
  NumericsClass a, b;
  std::map<std::string, double, std::less<>> op_budgets;  // by kind of op: introduced_worst
  double logit_noise = 0;  // gap_change, in sigma
  std::string source;  // how it was measured
  uint32_t n_prompts = 0;
  std::vector<std::string> models;
};

/// What healthy pairs of a report's class were seen to do: the largest of each, times headroom.
/// Where both sides read the same formats, the entry is for any weights. Never 0, which would
/// demand equal bits. Fails INVALID_ARGUMENT for a report that is none of a healthy pair: nothing
/// compared, WRONG, a run that failed, an error that is no finite number.
Result<NoiseLevel> measured_level(const Report& report, double headroom);

class NoiseTable {
 public:
  /// The file's text; where: for messages. Fails CORRUPT: which entry is wrong, and how.
  static Result<NoiseTable> parse(std::string_view json, const std::string& where);

  /// Of introduced_worst of an op of that kind, for its own two classes, whose empty fields do not
  /// matter: the largest of the entries that fit.
  std::optional<double> op_budget(std::string_view kind, const NumericsClass& a,
                                  const NumericsClass& b) const;
  /// Of gap_change, for the classes of two whole sides. Where a side has several backends, that of
  /// each pair of unequal ones is looked for, and the largest taken.
  std::optional<double> logit_noise(const NumericsClass& a, const NumericsClass& b) const;
  const std::vector<NoiseLevel>& levels() const { return levels_; }
  /// Adds an entry; to one for the same classes it is joined: the larger of each level.
  void add(const NoiseLevel& level);
  /// A file that parse reads.
  std::string text() const;
  /// The file and its hash.
  const std::string& source() const { return source_; }

 private:
  std::vector<NoiseLevel> levels_;
  std::string source_;
};

}  // namespace plumbline::diff
