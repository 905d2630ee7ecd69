// parameters.h: a stage's JSON object, read key by key.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::samplers::core {

/// Every failure is INVALID_CONFIG: the stage, the key, what was seen, what was expected.
class Parameters {
 public:
  static Result<Parameters> parse(std::string_view stage, std::string_view json);

  /// A required number. expected: the rule in words, for the message.
  Result<double> number(const char* key, bool (*is_valid)(double), const char* expected);
  /// A required integer of at least 1.
  Result<uint64_t> count(const char* key);
  /// A required array, not empty, of integers in [0, n_vocab).
  Result<std::vector<int32_t>> ids(const char* key, uint32_t n_vocab);
  /// One of the words, which must outlive the answer; the first if the key is absent.
  Result<std::string_view> word_or(const char* key, std::initializer_list<std::string_view> words);

  /// What was given and not asked for is a mistake.
  Result<void> finish() const;

 private:
  Result<nlohmann::json> take(const char* key, const std::string& expected);
  Error bad(const std::string& message) const;

  std::string stage_;
  nlohmann::json object_;
  std::vector<std::string> known_;
};

}  // namespace plumbline::samplers::core
