// reader.h: a cursor over the bytes of a GGUF file. Nothing is read that is not there.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "plumb/sdk/abi.h"

namespace plumbline::loaders::gguf {

/// CORRUPT, with the place in the file.
inline Error corrupt(uint64_t offset, const std::string& message) {
  return {PLUMB_CORRUPT, "byte " + std::to_string(offset) + ": " + message};
}

/// Text out of a file, fit for an error message: cut, and only printable ASCII.
std::string quoted(std::string_view text);

/// True if every byte is printable ASCII, and there is one.
bool is_name(std::string_view text);

class Reader {
 public:
  explicit Reader(plumb_bytes file) : file_(file) {}

  uint64_t at() const { return at_; }
  uint64_t left() const { return file_.bytes - at_; }

  /// The next n bytes. what: named in the error.
  Result<const uint8_t*> take(uint64_t n, const char* what) {
    if (n > left()) return too_short(n, what);
    const uint8_t* bytes = file_.data + at_;
    at_ += n;
    return bytes;
  }

  /// A little-endian number. The hosts that Plumbline knows are little-endian, as the file is.
  template <typename T>
  Result<T> number(const char* what) {
    PLUMB_ASSIGN(const uint8_t* bytes, take(sizeof(T), what));
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  /// A length and that many bytes.
  Result<std::string_view> string(const char* what) {
    PLUMB_ASSIGN(const uint64_t n, number<uint64_t>(what));
    PLUMB_ASSIGN(const uint8_t* bytes, take(n, what));
    return std::string_view(reinterpret_cast<const char*>(bytes), n);
  }

  /// A number of things that take at least min_bytes each: no more than the rest of the file can
  /// hold.
  Result<uint64_t> count(uint64_t min_bytes, const char* what) {
    PLUMB_ASSIGN(const uint64_t n, number<uint64_t>(what));
    if (n > left() / min_bytes) {
      return corrupt(at_ - sizeof n, std::string(what) + " " + std::to_string(n) + ", at most " +
                                         std::to_string(left() / min_bytes) + " fit in the " +
                                         std::to_string(left()) + " bytes that are left");
    }
    return n;
  }

 private:
  Error too_short(uint64_t n, const char* what) const {
    return corrupt(at_, std::string("file ends inside ") + what + ": " + std::to_string(n) +
                            " bytes expected, " + std::to_string(left()) + " left");
  }

  plumb_bytes file_;
  uint64_t at_ = 0;
};

}  // namespace plumbline::loaders::gguf
