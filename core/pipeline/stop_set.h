// stop_set.h: what ends an answer beside the model's own end tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/stop_automaton.h"
#include "plumb/sdk/result.h"

namespace plumbline::pipeline {

/// As a config or a request lists it. Empty texts and tails are ignored.
struct StopLists {
  std::vector<std::string> texts = {};
  std::vector<int32_t> ids = {};
  std::vector<std::vector<int32_t>> tails = {};  // rows of ids
};

/// The stop that ended an answer.
struct Stop {
  enum class Kind { kText, kId, kTail };
  Kind kind = Kind::kText;
  size_t index = 0;  // in its list
  uint64_t at = 0;  // byte of the answer at which it begins: where the text ends
};
/// "text", "id", "tail".
std::string_view stop_kind_name(Stop::Kind kind);

/// Stops, ready to be looked for. One serves any number of answers at once.
class StopSet {
 public:
  /// Bytes of all texts, and ids of all tails: what bounds the memory.
  static constexpr size_t kSymbolsMax = size_t{1} << 24;
  /// Fails INVALID_ARGUMENT: more than kSymbolsMax, a negative id.
  static Result<std::shared_ptr<const StopSet>> create(const StopLists& lists);
  /// No stops.
  StopSet() = default;

  /// The first place of an id in the list of ids.
  std::optional<size_t> index_of(int32_t id) const;
  const StopAutomaton<uint8_t>& texts() const { return texts_; }
  const StopAutomaton<int32_t>& tails() const { return tails_; }
  /// Of the ids and tails; -1: there are none.
  int32_t largest_id() const { return largest_id_; }

 private:
  struct Id {
    int32_t id;
    size_t index;
  };
  std::vector<Id> ids_;  // by id
  StopAutomaton<uint8_t> texts_;
  StopAutomaton<int32_t> tails_;
  int32_t largest_id_ = -1;
};

}  // namespace plumbline::pipeline
