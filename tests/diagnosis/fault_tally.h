// fault_tally.h: of a suite's injected faults, how many were found where they are and named right.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "core/diff/report.h"

namespace plumbline::diff::test {

class FaultTally {
 public:
  /// what: the suite's faults, for the log.
  explicit FaultTally(std::string what) : what_(std::move(what)) {}

  /// A fault of this cause was put into `where`. Expects the right place, and no wrong cause.
  void count(const std::string& cause, const std::string& where, bool is_placed,
             const PromptReport& found) {
    const bool is_named = found.cause && (found.cause->signature == cause ||
                                          std::ranges::count(found.cause->also, cause) > 0);
    ++n_;
    n_placed_ += is_placed;
    n_named_ += is_named;
    n_misnamed_ += !is_named && found.cause;
    const std::string place = found.place
                                  ? std::string(door_name(found.place->door)) + " at token " +
                                        std::to_string(found.place->step) + ": " +
                                        found.place->seen_a + " and " + found.place->seen_b
                                  : "nowhere";
    std::printf("%-26s %-32s place %s, %s\n", cause.c_str(), where.c_str(),
                is_placed ? "right" : "WRONG",
                found.cause ? found.cause->signature.c_str() : "unknown");
    if (!is_placed || !is_named) std::printf("  %s\n", place.c_str());
    std::fflush(stdout);
    EXPECT_TRUE(is_placed) << verdict_name(found.verdict) << ", " << place;
    EXPECT_TRUE(is_named || !found.cause) << found.cause->statement;
  }

  /// Of all: every place, 95 % of the causes.
  void check() const {
    std::printf("%s: place right %zu of %zu, cause named right %zu, wrong %zu\n", what_.c_str(),
                n_placed_, n_, n_named_, n_misnamed_);
    EXPECT_EQ(n_placed_, n_);
    EXPECT_GE(static_cast<double>(n_named_), 0.95 * static_cast<double>(n_));
  }

 private:
  std::string what_;
  size_t n_ = 0, n_placed_ = 0, n_named_ = 0, n_misnamed_ = 0;
};

}  // namespace plumbline::diff::test
