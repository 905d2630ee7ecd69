// reduce.h: a difference as a folder that shows it again with one command: core/doc/bisect.md.
#pragma once

#include <cstdint>
#include <string>

#include "core/diff/bisect.h"

namespace plumbline::diff {

/// What a folder says must come out.
struct Expected {
  Symptom symptom;
  // Of the place, which may be another where the verdict is not WRONG.
  std::string op;
  uint64_t at = 0;
  std::string seen_a, seen_b;
  uint32_t n_steps = 0;  // of the comparison
  uint64_t seed = 1;
  std::string noise_sha256;  // of the levels that lie beside it; empty: none had a say
};

struct CaseRequest {
  std::string folder;  // must not exist
  uint64_t seed = 1;
  std::string noise_json;  // the levels that verdicts are made by, written where one had a say
  std::string made_by;  // "plumb 0.4.0"
};

/// Names of the files of a case that others read.
inline constexpr const char* kConfigA = "a.yaml";
inline constexpr const char* kConfigB = "b.yaml";
inline constexpr const char* kPrompt = "prompt.jsonl";
inline constexpr const char* kExpected = "expected.json";
inline constexpr const char* kNoise = "noise.json";

/// INVALID_ARGUMENT where something is in the way, NOT_FOUND where there is no place for it: told
/// before the search begins.
Result<void> check_free(const std::string& folder);

/// Writes a case: A, and A with the culprits, as configs with nothing left open; templates and
/// tokenizers that they name go along, each once, models are named by package, or by path and
/// sha256. The folder appears whole or not at all. Fails NOT_FOUND: what could not be written, and
/// why.
Result<void> write_case(const BisectReport& report, Side& a, const CaseRequest& request);

/// Fails CORRUPT: which key is wrong, and what was expected. where: for the message.
Result<Expected> parse_expected(std::string_view json, const std::string& where);

}  // namespace plumbline::diff
