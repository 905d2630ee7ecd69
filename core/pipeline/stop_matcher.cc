#include "core/pipeline/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace plumbline::pipeline {
namespace {

// Length of the longest end of text that begins stop.
size_t partial_match(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n) {
    if (text.ends_with(stop.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
}

bool StopMatcher::feed(std::string_view bytes, std::string* out) {
  held_ += bytes;
  size_t found = std::string::npos;
  size_t keep = 0;
  for (const std::string& stop : stops_) {
    found = std::min(found, held_.find(stop));
    keep = std::max(keep, partial_match(held_, stop));
  }
  if (found != std::string::npos) {
    out->append(held_, 0, found);
    held_.clear();
    return true;
  }
  out->append(held_, 0, held_.size() - keep);
  held_.erase(0, held_.size() - keep);
  return false;
}

std::string StopMatcher::flush() {
  return std::exchange(held_, {});
}

}  // namespace plumbline::pipeline
