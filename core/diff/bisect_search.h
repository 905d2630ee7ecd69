// bisect_search.h: the few of many items that make something happen, found by trying subsets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// What a subset of the items did.
enum class Outcome {
  kReproduces,
  kDiffers,
  kUnresolved,  // it could not be tried: a mixture that is no valid config
};
/// "reproduces", "differs", "unresolved".
const char* outcome_name(Outcome outcome);

/// Indices, rising.
using Subset = std::vector<uint32_t>;

/// 0 to n-1.
Subset all_of(uint32_t n);

/// Tries subsets: each only once, and no more of them than allowed.
class Trials {
 public:
  using Run = std::function<Result<Outcome>(const Subset&)>;

  explicit Trials(Run run, uint32_t n_runs_max = UINT32_MAX)
      : run_(std::move(run)), n_runs_max_(n_runs_max) {}

  /// What is known without a run.
  void know(Subset subset, Outcome outcome) { known_[std::move(subset)] = outcome; }
  /// True of a call: no subset is run any more. Asked before each run.
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }

  /// Once no more runs are allowed, what is not known is unresolved, so that a search ends with
  /// what it has. Fails as the run does.
  Result<Outcome> operator()(const Subset& subset);

  uint32_t n_runs() const { return n_runs_; }
  uint32_t n_unresolved() const { return n_unresolved_; }
  /// A run was wanted and not allowed.
  bool is_cut_short() const { return is_cut_short_; }

 private:
  Run run_;
  std::function<bool()> stop_;
  uint32_t n_runs_max_;
  uint32_t n_runs_ = 0;
  uint32_t n_unresolved_ = 0;
  bool is_cut_short_ = false;
  std::map<Subset, Outcome> known_;
};

struct Culprits {
  Subset items;  // they reproduce
  /// Without any one of them, the others do not: each was tried. False only if the runs ran out.
  bool is_minimal = false;
  /// The items depend on each other in a way that bisection cannot follow: a superset of what
  /// reproduces did not, or mixtures were unresolved.
  bool fell_back = false;
};

/// A smallest subset of n items that reproduces: no item can be spared. All together are known to
/// reproduce, none of them not to.
///
/// One culprit after the other: the shortest prefix of the remaining items that, with the culprits
/// found, still reproduces ends with a culprit. Where supersets of what reproduces do so too, m
/// culprits among k items take at most m log2(k) runs, rounded up each, and 2m to see that none is
/// missing and none can be spared. Otherwise ddmin follows.
Result<Culprits> find_culprits(uint32_t n, Trials& trials);

/// A subset of one that reproduces, such that none of its items can be spared; smaller pieces are
/// tried from halves downwards.
/// Source  Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input (2002), ddmin.
Result<Subset> ddmin(Subset reproducing, Trials& trials);

}  // namespace plumbline::diff
