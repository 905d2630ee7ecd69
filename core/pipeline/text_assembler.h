// text_assembler.h: the tokens of an answer -> the text that is shown: stop strings are cut,
// characters are whole.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/stop_matcher.h"
#include "core/pipeline/text_stream.h"

namespace plumbline::pipeline {

class TextAssembler {
 public:
  /// on_text, which may be empty, gets each piece as soon as it is sure; *text gets all of them.
  TextAssembler(std::vector<std::string> stops, IllFormed profile,
                const std::function<void(std::string_view)>& on_text, std::string* text);

  /// A token's bytes. True: a stop string is complete; nothing more may be fed.
  bool feed(std::string_view bytes, bool is_byte);
  /// The end, or a control token: no character and no stop string goes on across it.
  void interrupt();

 private:
  // Stop strings are matched on bytes, and what the matcher lets go has forgotten its tokens.
  struct Segment {
    size_t n_bytes;
    bool is_byte;
  };
  void release(std::string_view bytes);
  void show();

  StopMatcher stops_;
  TextStream stream_;
  const std::function<void(std::string_view)>& on_text_;
  std::string* text_;
  std::vector<Segment> segments_;  // of the bytes that the matcher holds, in order
  std::string safe_;  // bytes that no stop string can reach any more
  std::string whole_;  // characters that are complete
};

}  // namespace plumbline::pipeline
