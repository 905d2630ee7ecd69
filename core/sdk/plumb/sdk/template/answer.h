// answer.h: what every template engine does with a request's and an answer's views. Plugin side.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "plumb/ext/template.h"

namespace plumbline {

/// Where the caller wants to hear which bytes are a stranger's, or null. Older callers' requests
/// end before that.
inline plumb_spans* spans_of(const plumb_render_request& request) {
  return PLUMB_HAS(&request, plumb_render_request, untrusted) ? request.untrusted : nullptr;
}

/// Has render() been given all that it needs?
inline bool is_answerable(const void* self, const plumb_render_request* request, const char* out,
                          uint64_t capacity, const uint64_t* n_bytes) {
  if (self == nullptr || request == nullptr || n_bytes == nullptr ||
      (out == nullptr && capacity > 0))
    return false;
  if (!PLUMB_HAS(request, plumb_render_request, fuel)) return false;
  const plumb_spans* spans = spans_of(*request);
  return spans == nullptr ||
         (PLUMB_HAS(spans, plumb_spans, n) && (spans->spans != nullptr || spans->capacity == 0));
}

/// Hands a prompt over, or says MORE_SPACE and how much.
inline plumb_status answer(const plumb_render_request& request, std::string_view prompt,
                           std::span<const plumb_span> untrusted, char* out, uint64_t capacity,
                           uint64_t* n_bytes) {
  plumb_spans* const spans = spans_of(request);
  *n_bytes = prompt.size();
  if (spans != nullptr) spans->n = untrusted.size();
  if (prompt.size() > capacity || (spans != nullptr && untrusted.size() > spans->capacity))
    return PLUMB_MORE_SPACE;
  std::copy(prompt.begin(), prompt.end(), out);
  if (spans != nullptr) std::copy(untrusted.begin(), untrusted.end(), spans->spans);
  return PLUMB_OK;
}

}  // namespace plumbline
