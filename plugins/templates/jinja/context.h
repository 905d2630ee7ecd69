#pragma once

#include <string_view>

#include "runtime.h"

namespace plumbline::templates::jinja {

/// The value of a JSON text. Strings may be views of it, so it must outlive the render.
/// Fails the render, and gives back an undefined value, for a text that is no JSON; the message
/// begins with `what`.
Value read_json(Runtime& rt, std::string_view json, std::string_view what);

/// Reads the template's variables: a JSON object, key order kept, a repeated key's last value wins.
/// Gives back null, and fails the render, when it is none.
const Dict* read_context(Runtime& rt, std::string_view json);

}  // namespace plumbline::templates::jinja
