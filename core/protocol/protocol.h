// protocol.h: six stages that a port of a model goes through, each against the best reference there
// is. core/doc/protocol.md tells what each compares and what its verdict means.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/diff/noise.h"
#include "core/golden/bundle.h"
#include "core/golden/finding.h"
#include "core/protocol/corpus.h"
#include "core/protocol/side_maker.h"

namespace plumbline::protocol {

inline constexpr int kStages = 6;

struct Prompt {
  std::string name;
  std::string text;  // taken as it is
};

struct Request {
  std::set<int> stages = {1, 2, 3, 4, 5, 6};
  uint32_t n_tokens = 512;  // of the long run
  std::vector<Prompt> prompts = {};  // of stages 2 to 5; the first is the long run's
  std::vector<Corpus> corpora = {};  // of stage 1
  /// Golden data, and where they lie; null: none.
  const golden::Bundle* bundle = nullptr;
  std::string bundle_folder = {};
  const diff::NoiseTable* noise = nullptr;  // null: no level is known
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const std::string& what)> on_progress = {};
};

struct Stage {
  int number = 0;
  std::string title;
  std::string a, b;  // what was compared with what
  std::string why_not;  // not empty: it could not run
  std::string failure;  // not empty: it ended with this error; what came before is in the findings
  std::vector<golden::Finding> findings;
  double seconds = 0;

  /// Whether anything was compared, and how that went. A stage that failed has no verdict.
  golden::Summary summary() const { return golden::summary(findings); }
};

/// Titles of the stages, the first of number 1.
extern const std::array<const char*, kStages> kTitles;

/// Runs the stages that were asked for, in order. A stage that fails does not end the others; only
/// CANCELLED is an error of the whole, and then the stages so far are in `done`.
Result<void> run(const Request& request, SideMaker& sides, std::vector<Stage>& done);

}  // namespace plumbline::protocol
