#pragma once

#include <string>
#include <string_view>

#include "runtime.h"

namespace plumbline::templates::jinja {

/// Reads the template's variables: a JSON object, key order kept, a repeated key's last value wins.
/// Gives back null, and fails the render, when it is none.
const Dict* read_context(Runtime& rt, std::string_view json);

}  // namespace plumbline::templates::jinja
