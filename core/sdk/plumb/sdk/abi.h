// abi.h: the C ABI's views and errors, spoken in C++. For hosts and plugins alike.
#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "plumb/base.h"
#include "plumb/sdk/result.h"

namespace plumbline {

constexpr plumb_str to_abi(std::string_view text) {
  return {text.data(), text.size()};
}
inline std::string_view to_view(plumb_str text) {
  return text.bytes == 0 ? std::string_view() : std::string_view(text.data, text.bytes);
}
inline std::string_view to_view(plumb_bytes bytes) {
  return bytes.bytes == 0
             ? std::string_view()
             : std::string_view(reinterpret_cast<const char*>(bytes.data), bytes.bytes);
}
inline std::string to_string(plumb_str text) {
  return std::string(to_view(text));
}

/// A value-initialised ABI struct with struct_bytes set.
template <typename T>
T make_abi() {
  T value{};
  value.struct_bytes = sizeof(T);
  return value;
}

inline const char* status_name(plumb_status status) {
  switch (status) {
    case PLUMB_OK:
      return "OK";
    case PLUMB_INVALID_ARGUMENT:
      return "INVALID_ARGUMENT";
    case PLUMB_INVALID_CONFIG:
      return "INVALID_CONFIG";
    case PLUMB_NOT_FOUND:
      return "NOT_FOUND";
    case PLUMB_UNSUPPORTED:
      return "UNSUPPORTED";
    case PLUMB_INCOMPATIBLE:
      return "INCOMPATIBLE";
    case PLUMB_CORRUPT:
      return "CORRUPT";
    case PLUMB_NUMERIC:
      return "NUMERIC";
    case PLUMB_MORE_SPACE:
      return "MORE_SPACE";
    case PLUMB_CANCELLED:
      return "CANCELLED";
    case PLUMB_INTERNAL:
      return "INTERNAL";
    default:
      return "UNKNOWN_STATUS";
  }
}

/// Plugin side: writes a message (cut to the capacity) and returns the code.
inline plumb_status fail(plumb_error* error, plumb_status code, std::string_view message) {
  if (error != nullptr && error->message != nullptr) {
    const size_t n = std::min<size_t>(message.size(), error->capacity_bytes);
    std::memcpy(error->message, message.data(), n);
    error->message_bytes = static_cast<uint32_t>(n);
  }
  return code;
}

/// fail with printf formatting, into a fixed buffer: usable where nothing may be allocated.
__attribute__((format(printf, 3, 4))) inline plumb_status failf(plumb_error* error,
                                                                plumb_status code,
                                                                const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  const int n = std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  const size_t written = n < 0 ? 0 : std::min<size_t>(static_cast<size_t>(n), sizeof text - 1);
  return fail(error, code, std::string_view(text, written));
}

inline plumb_status fail(plumb_error* error, const Error& reason) {
  return fail(error, reason.code, reason.message);
}

/// Host side: a buffer for one call's message.
class ErrorBuffer {
 public:
  ErrorBuffer() {
    error_.struct_bytes = sizeof(plumb_error);
    error_.capacity_bytes = sizeof text_;
    error_.message = text_;
    error_.op_id = PLUMB_NO_OP;
  }
  ErrorBuffer(const ErrorBuffer&) = delete;
  ErrorBuffer& operator=(const ErrorBuffer&) = delete;

  /// Handing it to a call empties it, so one buffer serves many calls.
  operator plumb_error*() {
    error_.message_bytes = 0;
    error_.op_id = PLUMB_NO_OP;
    return &error_;
  }
  uint32_t op_id() const { return error_.op_id; }
  std::string_view message() const {
    return {text_, std::min<size_t>(error_.message_bytes, sizeof text_)};
  }
  /// The error as a value; a plugin that gave no text gets the status name.
  Error take(plumb_status status) const {
    return {status, error_.message_bytes == 0 ? status_name(status) : std::string(message())};
  }

 private:
  plumb_error error_{};
  char text_[1024];
};

/// Runs a body that may throw (a library's exception) at the ABI line: no exception crosses it.
template <typename Body>
plumb_status guarded(plumb_error* error, Body&& body) noexcept {
#if defined(__cpp_exceptions)
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(error, PLUMB_INTERNAL, "out of memory");
  } catch (const std::exception& caught) {
    return fail(error, PLUMB_INTERNAL, caught.what());
  } catch (...) {
    return fail(error, PLUMB_INTERNAL, "unknown exception");
  }
#else
  (void)error;
  return body();
#endif
}

}  // namespace plumbline
