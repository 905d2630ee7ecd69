// text.h: foreign text made fit for one line of a message.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace plumbline {

/// Control characters become spaces, and what goes beyond 1,000 bytes is cut.
inline std::string one_line(std::string_view text) {
  std::string line(text.substr(0, 1000));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return line;
}

}  // namespace plumbline
