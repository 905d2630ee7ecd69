#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plumb/base.h"

/// The Jinja language as chat templates use it: jinja2 3.1 in transformers' configuration
/// (immutable sandbox, trim_blocks, lstrip_blocks, loop controls, generation blocks, tojson =
/// json.dumps, autoescape off).
namespace plumbline::templates::jinja {

/// What a template may do with a value that is not there. `defined` tests and `default` are always
/// allowed.
enum class UndefinedProfile : std::uint8_t {
  strict,  // nothing: printing, looping, truth and comparing are errors
  semi_strict,  // its truth may be asked (false)
  hf,  // jinja2's default, as transformers uses it: prints nothing, loops over nothing
};

enum class ErrorKind : std::uint8_t {
  syntax,
  context,  // the context is not a JSON object
  undefined,  // a value that is not there was used
  type,  // a wrong type or value
  raised,  // raise_exception: the message is the template's own
  security,  // forbidden by the sandbox
  limit,  // out of fuel, memory or nesting
  internal,
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  // seen, expected
  std::uint32_t line = 0;  // from 1; 0: the error has no place in the template
  std::uint32_t column = 0;  // from 1, in code points

  /// "line 3, column 7: message"
  std::string text() const;
};

struct Limits {
  std::uint64_t fuel = 50'000'000;  // evaluation steps, and one for each 64 bytes of text handled
  std::size_t memory_bytes = std::size_t{512} << 20;
  std::uint32_t depth = 800;  // nested evaluations; half a MiB of stack is enough for them
};

struct RenderRequest {
  std::string_view context_json;  // an object: the template's variables; key order is kept
  UndefinedProfile profile = UndefinedProfile::strict;
  std::optional<std::int64_t>
      now_unix_s;  // what strftime_now sees, UTC; without it that call is an error
  // JSON pointers to what strangers wrote; without it nobody asks whose the rendered bytes are
  std::optional<std::string_view> untrusted_json;
};

struct Rendering {
  std::string text;
  std::vector<plumb_span>
      untrusted;  // sorted, disjoint: what strangers wrote, or what was made of it
};

inline constexpr std::size_t kMaxTemplateBytes = std::size_t{64} << 20;

struct Program;

/// A compiled template. Immutable: any number of threads may render it at once.
class Template {
 public:
  /// Fails with a syntax error, its line and column.
  static std::variant<Template, Error> compile(std::string_view source);

  /// Fails as ErrorKind lists it; never throws but for exhausted memory of the machine.
  std::variant<Rendering, Error> render(const RenderRequest& request,
                                        const Limits& limits = {}) const;

  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

 private:
  explicit Template(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program_;
};

}  // namespace plumbline::templates::jinja
