#include "engine.h"

#include <algorithm>

#include "ast.h"
#include "context.h"
#include "evaluator.h"
#include "parser.h"
#include "provenance.h"

namespace plumbline::templates::jinja {
namespace {

/// Line ends become \n, and one at the very end is dropped: jinja2's keep_trailing_newline=False.
std::string normalised(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
      continue;
    }
    out += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

Error error_at(std::string_view source, ErrorKind kind, std::string message, std::size_t at) {
  const std::string_view before = source.substr(0, std::min(at, source.size()));
  const std::size_t newline = before.rfind('\n');
  const std::string_view line =
      newline == std::string_view::npos ? before : before.substr(newline + 1);
  return {kind, std::move(message),
          static_cast<std::uint32_t>(1 + std::ranges::count(before, '\n')),
          static_cast<std::uint32_t>(1 + text::count_points(line))};
}

}  // namespace

std::string Error::text() const {
  if (line == 0) return message;
  return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + message;
}

Template::Template(std::unique_ptr<Program> program) : program_(std::move(program)) {}
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

std::variant<Template, Error> Template::compile(std::string_view source) {
  if (source.size() > kMaxTemplateBytes) {
    return Error{ErrorKind::limit, "template of " + std::to_string(source.size()) +
                                       " bytes seen, at most " + std::to_string(kMaxTemplateBytes) +
                                       " expected"};
  }
  if (const std::size_t bad_at = text::first_invalid_utf8(source);
      bad_at != std::string_view::npos) {
    return Error{ErrorKind::syntax,
                 "template: byte " + std::to_string(bad_at) + ": no UTF-8 seen, UTF-8 expected"};
  }
  auto program = std::make_unique<Program>();
  program->source = normalised(source);
  SyntaxError error;
  Parser(*program, error).parse();
  if (error.failed)
    return error_at(program->source, ErrorKind::syntax, std::move(error.message), error.at);
  return Template(std::move(program));
}

std::variant<Rendering, Error> Template::render(const RenderRequest& request,
                                                const Limits& limits) const {
  Runtime rt(request, limits);
  const Dict* context = read_context(rt, request.context_json);
  if (context != nullptr && request.untrusted_json)
    mark_context(rt, Value::of(context), *request.untrusted_json);
  if (rt.failed()) return Error{rt.error_kind(), rt.error_message()};
  Text out(rt, request.context_json.size());
  Evaluator(*program_, rt, *context).run(out);
  if (rt.failed())
    return error_at(program_->source, rt.error_kind(), rt.error_message(), rt.error_at());
  return std::move(out).take();
}

}  // namespace plumbline::templates::jinja
