// text_assembler.h: the tokens of an answer -> the text that is shown: stops are cut, characters
// are whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/stop_set.h"
#include "core/pipeline/text_stream.h"

namespace plumbline::pipeline {

/// A stop's text is matched on bytes, wherever tokens begin and end, and its row of ids on ids,
/// whatever their bytes are. What could still become one is held back.
class TextAssembler {
 public:
  /// stops: null for none. on_text, which may be empty, gets each piece as soon as it is sure;
  /// *text gets all of them.
  TextAssembler(std::shared_ptr<const StopSet> stops, IllFormed profile,
                const std::function<void(std::string_view)>& on_text, std::string* text);

  /// A token's bytes. A stop that is complete with them: nothing more may be fed, and the text ends
  /// before it. Of several the text that ends first counts, of those the longest; then the longest
  /// row of ids.
  std::optional<Stop> feed(int32_t id, std::string_view bytes, bool is_byte);
  /// A token without bytes: no character and no stop's text goes on across it.
  std::optional<Stop> interrupt(int32_t id);
  /// The end without a stop: what was held back comes out.
  void flush();

 private:
  // Of a token; what is held back has forgotten it otherwise.
  struct Segment {
    size_t n_bytes;
    bool is_byte;
    bool is_interrupt;
  };
  std::optional<Stop> take(int32_t id, std::string_view bytes, const Segment& segment);
  std::optional<Stop> stopped(Stop::Kind kind, uint32_t index, uint64_t at);
  // Lets go of bytes, but for the last so many and those of the last so many tokens.
  void release(size_t n_kept_bytes, size_t n_kept_tokens);
  size_t bytes_of_last(size_t n_tokens) const;

  std::shared_ptr<const StopSet> stops_;
  StopAutomaton<uint8_t>::State text_state_ = StopAutomaton<uint8_t>::kStart;
  StopAutomaton<int32_t>::State tail_state_ = StopAutomaton<int32_t>::kStart;
  TextStream stream_;
  const std::function<void(std::string_view)>& on_text_;
  std::string* text_;
  std::string held_;
  std::vector<Segment> segments_;  // of held_, in order
  uint64_t n_fed_ = 0;  // bytes
  std::string whole_;  // characters that are complete
};

}  // namespace plumbline::pipeline
