// The C ABI's side of the engine: views and status codes in, text out.

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/entry.h"
#include "plumb/sdk/template/answer.h"

namespace {

using plumbline::to_view;
namespace jinja = plumbline::templates::jinja;

struct Instance {
  jinja::Template compiled;
  jinja::UndefinedProfile profile;
};

plumb_status status_of(jinja::ErrorKind kind) {
  switch (kind) {
    case jinja::ErrorKind::syntax:
      return PLUMB_CORRUPT;
    case jinja::ErrorKind::limit:
      return PLUMB_CANCELLED;
    case jinja::ErrorKind::internal:
      return PLUMB_INTERNAL;
    default:
      return PLUMB_INVALID_ARGUMENT;
  }
}

struct Profile {
  std::string_view name;
  jinja::UndefinedProfile profile;
};
constexpr Profile kProfiles[] = {{"strict", jinja::UndefinedProfile::strict},
                                 {"semi_strict", jinja::UndefinedProfile::semi_strict},
                                 {"hf", jinja::UndefinedProfile::hf}};

plumbline::Result<jinja::UndefinedProfile> parse_options(std::string_view json) {
  const auto bad = [](const std::string& what) {
    return plumbline::Error{PLUMB_INVALID_CONFIG, "template options: " + what};
  };
  if (json.empty()) return jinja::UndefinedProfile::strict;
  const auto options = nlohmann::json::parse(json, nullptr, false);
  if (!options.is_object()) return bad("a JSON object expected");
  auto profile = jinja::UndefinedProfile::strict;
  for (const auto& [key, value] : options.items()) {
    if (key != "undefined") return bad("unknown key '" + key + "' seen, 'undefined' expected");
    const auto* wanted = value.get_ptr<const std::string*>();
    const auto* found = std::ranges::find_if(
        kProfiles, [&](const Profile& p) { return wanted != nullptr && p.name == *wanted; });
    if (found == std::end(kProfiles)) {
      const std::string seen(wanted != nullptr ? std::string_view(*wanted) : value.type_name());
      return bad("undefined: '" + seen + "' seen, 'strict', 'semi_strict' or 'hf' expected");
    }
    profile = found->profile;
  }
  return profile;
}

plumb_status PLUMB_CALL create(const plumb_host*, plumb_str source, plumb_str options_json,
                               void** self, plumb_error* error) {
  return plumbline::guarded(error, [&] {
    if (self == nullptr)
      return plumbline::fail(error, PLUMB_INVALID_ARGUMENT, "template: no place for the engine");
    *self = nullptr;
    auto profile = parse_options(to_view(options_json));
    if (!profile) return plumbline::fail(error, profile.error());
    auto compiled = jinja::Template::compile(to_view(source));
    if (const auto* failed = std::get_if<jinja::Error>(&compiled)) {
      return plumbline::fail(error, PLUMB_CORRUPT, failed->text());
    }
    *self = new Instance{std::get<jinja::Template>(std::move(compiled)), *profile};
    return plumb_status{PLUMB_OK};
  });
}

void PLUMB_CALL destroy(void* self) {
  delete static_cast<Instance*>(self);
}

plumb_status PLUMB_CALL render(void* self, const plumb_render_request* request, char* out,
                               uint64_t capacity, uint64_t* n_bytes, plumb_error* error) {
  return plumbline::guarded(error, [&] {
    if (!plumbline::is_answerable(self, request, out, capacity, n_bytes)) {
      return plumbline::fail(error, PLUMB_INVALID_ARGUMENT,
                             "template render: an argument is missing or too short");
    }
    const Instance& instance = *static_cast<const Instance*>(self);
    jinja::Limits limits;
    if (request->fuel != 0) limits.fuel = request->fuel;
    jinja::RenderRequest wanted{to_view(request->context_json), instance.profile,
                                request->now_unix_s, std::nullopt};
    if (plumbline::spans_of(*request) != nullptr)
      wanted.untrusted_json = to_view(request->untrusted_json);
    const auto rendered = instance.compiled.render(wanted, limits);
    if (const auto* failed = std::get_if<jinja::Error>(&rendered)) {
      return plumbline::fail(error, status_of(failed->kind), failed->text());
    }
    const auto& [text, untrusted] = std::get<jinja::Rendering>(rendered);
    return plumbline::answer(*request, text, untrusted, out, capacity, n_bytes);
  });
}

constexpr plumb_template_engine kEngine = {sizeof(plumb_template_engine), 0, create, destroy,
                                           render};

const void* PLUMB_CALL extension(plumb_str id) {
  return to_view(id) == PLUMB_EXT_TEMPLATE ? &kEngine : nullptr;
}

}  // namespace

PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, plumbline::no_rank, extension)
