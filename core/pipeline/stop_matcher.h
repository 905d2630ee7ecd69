// stop_matcher.h: stop strings over the decoded byte stream, also where they run across tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plumbline::pipeline {

/// Holds back bytes that may turn out to begin a stop string; lets go of them when they do not.
class StopMatcher {
 public:
  /// Empty strings are ignored.
  explicit StopMatcher(std::vector<std::string> stops);

  /// Takes bytes; what is now safe to show is appended to *out. True: a stop string is complete;
  /// *out ends before it, and nothing more may be fed.
  bool feed(std::string_view bytes, std::string* out);
  /// The end without a stop string: what was held back.
  std::string flush();

 private:
  std::vector<std::string> stops_;
  std::string held_;
};

}  // namespace plumbline::pipeline
