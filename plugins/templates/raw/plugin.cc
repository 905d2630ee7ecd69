// The C ABI's side: views and status codes in, text out.

#include "plumb/sdk/abi.h"
#include "plumb/sdk/entry.h"
#include "plumb/sdk/template/answer.h"
#include "raw_prompt.h"

namespace {

using plumbline::to_view;
namespace raw = plumbline::templates::raw;

plumb_status PLUMB_CALL create(const plumb_host*, plumb_str, plumb_str options_json, void** self,
                               plumb_error* error) {
  return plumbline::guarded(error, [&] {
    if (self == nullptr)
      return plumbline::fail(error, PLUMB_INVALID_ARGUMENT, "template: no place for the engine");
    *self = nullptr;
    auto options = raw::read_options(to_view(options_json));
    if (!options) return plumbline::fail(error, options.error());
    *self = new raw::Options(*std::move(options));
    return plumb_status{PLUMB_OK};
  });
}

void PLUMB_CALL destroy(void* self) {
  delete static_cast<raw::Options*>(self);
}

plumb_status PLUMB_CALL render(void* self, const plumb_render_request* request, char* out,
                               uint64_t capacity, uint64_t* n_bytes, plumb_error* error) {
  return plumbline::guarded(error, [&] {
    if (!plumbline::is_answerable(self, request, out, capacity, n_bytes)) {
      return plumbline::fail(error, PLUMB_INVALID_ARGUMENT,
                             "template render: an argument is missing or too short");
    }
    const bool wants_spans = plumbline::spans_of(*request) != nullptr;
    const auto prompt =
        raw::render(*static_cast<const raw::Options*>(self), to_view(request->context_json),
                    wants_spans ? to_view(request->untrusted_json) : std::string_view());
    if (!prompt) return plumbline::fail(error, prompt.error());
    return plumbline::answer(*request, prompt->text, prompt->untrusted, out, capacity, n_bytes);
  });
}

constexpr plumb_template_engine kEngine = {sizeof(plumb_template_engine), 0, create, destroy,
                                           render};

const void* PLUMB_CALL extension(plumb_str id) {
  return to_view(id) == PLUMB_EXT_TEMPLATE ? &kEngine : nullptr;
}

}  // namespace

PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, plumbline::no_rank, extension)
