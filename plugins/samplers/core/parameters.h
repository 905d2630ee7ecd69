// parameters.h: a stage's JSON object, read key by key.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::samplers::core {

struct Bias {
  int32_t id;
  float value;  // a number or minus infinity
};

/// Every failure is INVALID_CONFIG: the stage, the key, what was seen, what was expected.
class Parameters {
 public:
  static Result<Parameters> parse(std::string_view stage, std::string_view json);

  /// A required number. expected: the rule in words, for the message.
  Result<double> number(const char* key, bool (*is_valid)(double), const char* expected);
  /// The same, or the fallback if the key is absent.
  Result<double> number_or(const char* key, double fallback, bool (*is_valid)(double),
                           const char* expected);
  /// A required integer of at least 1.
  Result<uint64_t> count(const char* key);
  /// An integer from least to most, or the fallback if the key is absent.
  Result<uint64_t> count_or(const char* key, uint64_t fallback, uint64_t least,
                            uint64_t most = UINT64_MAX);
  /// A required array, not empty, of integers in [0, n_vocab).
  Result<std::vector<int32_t>> ids(const char* key, uint32_t n_vocab);
  /// A required object, not empty, from ids in [0, n_vocab) to numbers of f32 or "-inf"; by
  /// ascending id.
  Result<std::vector<Bias>> biases(const char* key, uint32_t n_vocab);
  /// One of the words, which must outlive the answer; the first if the key is absent.
  Result<std::string_view> word_or(const char* key, std::initializer_list<std::string_view> words);

  /// What was given and not asked for is a mistake.
  Result<void> finish() const;

 private:
  Result<uint64_t> integer(const char* key, uint64_t least, uint64_t most);
  Result<nlohmann::json> take(const char* key, const std::string& expected);
  Error bad(const std::string& message) const;

  std::string stage_;
  nlohmann::json object_;
  std::vector<std::string> known_;
};

}  // namespace plumbline::samplers::core
