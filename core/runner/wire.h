// wire.h: messages of plumb.runner/1: a line of JSON, and behind it the tensors that it names.
// The format, for those who write runners: core/doc/runner.md.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/os/child.h"
#include "plumb/sdk/result.h"

namespace plumbline::runner {

inline constexpr const char* kProtocol = "plumb.runner/1";
inline constexpr size_t kLineBytesMax = 1u << 20;
inline constexpr size_t kDepthMax = 16;  // of a line's JSON
/// Every count that a runner may state: ids, layers, values in a row.
inline constexpr uint64_t kCountMax = 1u << 24;

/// What an answer says of one tensor of f32.
struct TensorHead {
  std::string name;
  std::vector<uint64_t> shape;

  /// "layers.0.q f32[5,576]".
  std::string describe() const;
};

/// An answer's line, checked as far as it can be without knowing the question.
struct Answer {
  /// What the runner itself says is wrong: it is then as before the question, and goes on.
  std::optional<Error> refusal;
  nlohmann::json facts;
  std::vector<TensorHead> tensors;
};

class Wire {
 public:
  explicit Wire(os::Child& child) : child_(&child) {}

  /// Sends one request with, perhaps, token ids as its tensor.
  Result<void> ask(nlohmann::json request, std::span<const int32_t> ids,
                   const os::Deadline& deadline);
  /// Fails CORRUPT for rubbish, and as os::Child does.
  Result<Answer> answer(const os::Deadline& deadline);
  /// The values of an answer's next tensor, whose shape the caller has checked.
  Result<std::vector<float>> values(const TensorHead& head, const os::Deadline& deadline);

 private:
  os::Child* child_;
};

/// Facts of an answer. Each fails CORRUPT: "KEY: seen, expected".
Result<uint32_t> count_of(const nlohmann::json& map, const char* key, uint64_t min, uint64_t max);
Result<std::string> text_of(const nlohmann::json& map, const char* key);

/// A text from outside as one line of a message: short, and without control characters.
std::string shown(std::string_view text);

}  // namespace plumbline::runner
