// result.h: Result<T>, a value or an Error. Same member names as C++23's std::expected, which it
// can become.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

#include "plumb/base.h"

namespace plumbline {

/// What went wrong: a status code that says who must act, and one line of text: seen, expected,
/// where.
struct Error {
  plumb_status code = PLUMB_INTERNAL;
  std::string message;

  /// The same error seen from further out: "where: message".
  Error at(const std::string& where) && { return {code, where + ": " + std::move(message)}; }
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

/// Result of something that has no value: `return {};` is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  bool has_value() const { return !failed_; }
  explicit operator bool() const { return !failed_; }
  Error& error() & { return error_; }
  const Error& error() const& { return error_; }
  Error&& error() && { return std::move(error_); }

 private:
  Error error_{PLUMB_OK, {}};
  bool failed_ = false;
};

}  // namespace plumbline

#define PLUMB_CONCAT_(a, b) a##b
#define PLUMB_CONCAT(a, b) PLUMB_CONCAT_(a, b)

/// PLUMB_TRY(expr): returns the error of a Result, whose value is not needed, to the caller.
#define PLUMB_TRY(expr)                                                \
  do {                                                                 \
    auto plumb_try_result = (expr);                                    \
    if (!plumb_try_result) return std::move(plumb_try_result).error(); \
  } while (false)

/// PLUMB_ASSIGN(auto x, expr): x = value, or returns the error to the caller.
#define PLUMB_ASSIGN(declaration, expr) \
  PLUMB_ASSIGN_IMPL_(PLUMB_CONCAT(plumb_assign_, __LINE__), declaration, expr)
#define PLUMB_ASSIGN_IMPL_(name, declaration, expr) \
  auto name = (expr);                               \
  if (!name) return std::move(name).error();        \
  declaration = *std::move(name)
