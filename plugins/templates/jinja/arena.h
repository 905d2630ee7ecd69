#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace plumbline::templates::jinja {

/// Bytes that a group of arenas may still hand out. Shared, so that one limit covers a whole
/// render.
struct Budget {
  std::size_t left_bytes = SIZE_MAX;
  bool overdrawn = false;

  bool take(std::size_t bytes) {
    if (bytes > left_bytes) return overdrawn = true, false;
    left_bytes -= bytes;
    return true;
  }
};

/// Hands out memory that lives as long as the arena. Values never own anything, so copies are 16
/// bytes, cycles cannot leak, and substrings are views.
class Arena {
 public:
  explicit Arena(Budget& budget) : budget_(budget) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Makes one small object. Never fails: an overdraft is noted in the budget and seen at the next
  /// step.
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "nothing is destroyed one by one");
    static_assert(sizeof(T) <= 1024, "large requests go through array()");
    budget_.take(sizeof(T));
    return new (take(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  /// Makes an array of n value-initialised objects, or null when the budget does not cover it.
  template <typename T>
  T* array(std::size_t n) {
    static_assert(std::is_trivially_destructible_v<T>, "nothing is destroyed one by one");
    if (n > SIZE_MAX / 2 / sizeof(T) || !budget_.take(n * sizeof(T))) return nullptr;
    T* first = static_cast<T*>(take(n * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(first, n);
    return first;
  }

  /// Copies a vector that was built on the heap; null when the budget does not cover it.
  template <typename T>
  std::span<T> copy(const std::vector<T>& from) {
    T* to = array<T>(from.size());
    if (to == nullptr) return {};
    std::copy(from.begin(), from.end(), to);
    return {to, from.size()};
  }

  /// Bytes without a value yet, or null when the budget does not cover them.
  char* bytes(std::size_t n) {
    if (!budget_.take(n)) return nullptr;
    return static_cast<char*>(take(n, 1));
  }

  /// Copies text; empty when the budget does not cover it.
  std::string_view text(std::string_view from) {
    char* to = bytes(from.size());
    if (to == nullptr) return {};
    std::copy(from.begin(), from.end(), to);
    return {to, from.size()};
  }

  /// Grows the newest piece of memory, the one ending at `end`, in place. Makes repeated `a = a ~
  /// b` linear.
  bool extend(const char* end, std::size_t n) {
    if (end != top_ || n > static_cast<std::size_t>(limit_ - top_) || !budget_.take(n))
      return false;
    top_ += n;
    return true;
  }

 private:
  void* take(std::size_t n, std::size_t align) {
    auto pad = (align - reinterpret_cast<std::uintptr_t>(top_) % align) % align;
    if (top_ == nullptr || pad + n > static_cast<std::size_t>(limit_ - top_)) {
      next_block_bytes_ = std::min<std::size_t>(next_block_bytes_ * 2, std::size_t{1} << 20);
      // A block has room to grow in, so that the newest text can be extended in place.
      const std::size_t block_bytes = std::max(next_block_bytes_, n + n / 2 + align);
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_bytes));
      top_ = blocks_.back().get();
      limit_ = top_ + block_bytes;
      pad = (align - reinterpret_cast<std::uintptr_t>(top_) % align) % align;
    }
    char* at = top_ + pad;
    top_ = at + n;
    return at;
  }

  Budget& budget_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* top_ = nullptr;
  char* limit_ = nullptr;
  std::size_t next_block_bytes_ = 1024;
};

}  // namespace plumbline::templates::jinja
