// render.h: one call from template text to rendered text, for tests of the engine.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine.h"

namespace plumbline::test {

struct Rendered {
  bool failed = false;
  std::string text;  // or the error
  templates::jinja::ErrorKind kind = templates::jinja::ErrorKind::internal;
};

/// In the hf profile and with the clock of golden/templates/language.jsonl, unless told otherwise.
inline Rendered render(
    std::string_view source, const std::string& context_json,
    templates::jinja::UndefinedProfile profile = templates::jinja::UndefinedProfile::hf,
    std::optional<std::int64_t> now_unix_s = 1764458400,
    const templates::jinja::Limits& limits = {},
    std::optional<std::string_view> untrusted_json = std::nullopt) {
  using templates::jinja::Error;
  using templates::jinja::Template;
  const auto compiled = Template::compile(source);
  if (const auto* error = std::get_if<Error>(&compiled)) return {true, error->text(), error->kind};
  const auto rendered = std::get<Template>(compiled).render(
      {context_json, profile, now_unix_s, untrusted_json}, limits);
  if (const auto* error = std::get_if<Error>(&rendered)) return {true, error->text(), error->kind};
  return {false, std::get<templates::jinja::Rendering>(rendered).text};
}

}  // namespace plumbline::test
