// engine.h: two sides and some prompts -> a report: what differs first, and how much.
//
//   PLUMB_ASSIGN(auto a, make_side("a.yaml", config_a, pipeline_a));
//   PLUMB_ASSIGN(auto b, make_side("b.yaml", config_b, pipeline_b));
//   PLUMB_ASSIGN(Report report, compare(*a, *b, request));
//
// core/doc/diff.md tells what is computed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/diff/noise.h"
#include "core/diff/report.h"
#include "core/diff/side.h"
#include "core/diff/text_doors.h"
#include "core/pipeline/messages.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// One of three: ids, messages, or text that is taken as it is.
struct PromptInput {
  std::string text = {};
  std::optional<pipeline::OrderedJson> messages = {};  // rendered by each side's template
  std::vector<int32_t> ids = {};  // doors 00 and 10 are not compared
};

struct DiffRequest {
  std::vector<PromptInput> prompts;
  Mode mode = Mode::kForced;
  uint32_t n_steps = 4;  // generated tokens that are compared; 0: the prompt alone
  uint64_t seed = 1;  // of both sides' coins
  bool all_rows = false;  // door 30 at every position of the prompt, not at the last alone
  const NoiseTable* noise = nullptr;  // null: no level is known
  int64_t now_unix_s = 0;  // what templates take for the present
  uint64_t bytes_max = 0;  // what a recording of a prompt may take; 0: half of the machine's memory
  const std::atomic<bool>* cancel = nullptr;  // set: the comparison ends CANCELLED
  /// What B's user sees of ids, and where B ends: for what somebody does wrong there.
  Shower show_b = show_ids;
};

/// Told before each step: "prompt 3 of 8: B on A's inputs". May be empty.
using Progress = std::function<void(const std::string& what)>;

/// Compares B with A, prompt by prompt. Fails INVALID_ARGUMENT (ids outside the vocabulary, no
/// room, more to record than bytes_max, ids for sides that have none in common), UNSUPPORTED (what
/// a runner cannot do), INCOMPATIBLE (the same vocabulary, but another number of layers, or ops of
/// another width; names them), CANCELLED, and as a side does, with the side named. A NUMERIC error
/// of a side is no failure of the comparison but a finding.
Result<Report> compare(Side& a, Side& b, const DiffRequest& request, const Progress& progress = {});

}  // namespace plumbline::diff
