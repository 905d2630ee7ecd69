#include "core/pipeline/untrusted_json.h"

#include <algorithm>
#include <string>
#include <vector>

namespace plumbline::pipeline {
namespace {

constexpr size_t kKeysMax = 4096;

Error wrong(const std::string& what) {
  return {PLUMB_INVALID_ARGUMENT, what};
}

/// "line 3, column 5", of the byte that is there, or would be.
std::string place_of(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const size_t line_begin = before.rfind('\n') + 1;  // 0 where there is none
  return "line " + std::to_string(1 + std::ranges::count(before, '\n')) + ", column " +
         std::to_string(1 + before.size() - line_begin);
}

}  // namespace

Result<OrderedJson> parse_untrusted(std::string_view text, int depth_max) {
  std::vector<size_t> n_keys(static_cast<size_t>(depth_max) + 2);  // of the object at each level
  bool is_too_deep = false;
  bool is_too_wide = false;
  const auto keep = [&](int depth, OrderedJson::parse_event_t event, OrderedJson&) {
    is_too_deep |= depth > depth_max;
    if (is_too_deep) return false;
    const auto level = static_cast<size_t>(depth);
    using Event = OrderedJson::parse_event_t;
    if (event == Event::object_start) n_keys[level + 1] = 0;
    if (event == Event::key) is_too_wide |= ++n_keys[level] > kKeysMax;
    return !is_too_wide;
  };
  OrderedJson json;
  try {
    json = OrderedJson::parse(text, keep);
  } catch (const OrderedJson::parse_error& error) {
    return wrong(place_of(text, std::max<size_t>(error.byte, 1) - 1) + ": expected JSON");
  } catch (const OrderedJson::out_of_range&) {
    return wrong("a number beyond those of 64 bits, expected JSON with smaller ones");
  }
  if (is_too_deep) return wrong("nested deeper than " + std::to_string(depth_max) + " levels");
  if (is_too_wide) {
    return wrong("an object with more than " + std::to_string(kKeysMax) +
                 " keys, expected fewer in each");
  }
  return json;
}

}  // namespace plumbline::pipeline
