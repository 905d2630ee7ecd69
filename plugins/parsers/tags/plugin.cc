// The C ABI's side: views and status codes in, events out.

#include "plumb/ext/output_parser.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/entry.h"
#include "tag_parser.h"

namespace {

using plumbline::fail;
using plumbline::to_view;
namespace tags = plumbline::parsers::tags;

// An instance, and the event that was handed out last.
struct Instance {
  tags::TagParser parser;
  tags::Event event;
};

Instance& instance(void* self) {
  return *static_cast<Instance*>(self);
}

plumb_status PLUMB_CALL create(const plumb_host*, plumb_str options_json, void** self,
                               plumb_error* error) {
  return plumbline::guarded(error, [&] {
    if (self == nullptr)
      return fail(error, PLUMB_INVALID_ARGUMENT, "parser: no place for the instance");
    *self = nullptr;
    auto options = tags::read_options(to_view(options_json));
    if (!options) return fail(error, options.error());
    *self = new Instance{tags::TagParser(*std::move(options)), {}};
    return plumb_status{PLUMB_OK};
  });
}

void PLUMB_CALL destroy(void* self) {
  delete static_cast<Instance*>(self);
}

plumb_status PLUMB_CALL feed(void* self, plumb_str text, uint32_t is_last, plumb_error* error) {
  return plumbline::guarded(error, [&] {
    if (self == nullptr || (text.data == nullptr && text.bytes != 0))
      return fail(error, PLUMB_INVALID_ARGUMENT, "parser feed: an argument is missing");
    instance(self).parser.feed(to_view(text), is_last != 0);
    return plumb_status{PLUMB_OK};
  });
}

plumb_status PLUMB_CALL next(void* self, plumb_event* event, plumb_error* error) {
  return plumbline::guarded(error, [&] {
    if (self == nullptr || event == nullptr || !PLUMB_HAS(event, plumb_event, text))
      return fail(error, PLUMB_INVALID_ARGUMENT,
                  "parser next: an argument is missing or too short");
    tags::Event& taken = instance(self).event;
    taken = instance(self).parser.next();
    event->kind = taken.kind;
    event->text = plumbline::to_abi(taken.text);
    return plumb_status{PLUMB_OK};
  });
}

plumb_str PLUMB_CALL marker_at(void* self, uint32_t index) {
  const tags::Options& options = instance(self).parser.options();
  for (const std::string* tag : {&options.reasoning.open, &options.reasoning.close,
                                 &options.tool_call.open, &options.tool_call.close}) {
    if (!tag->empty() && index-- == 0) return plumbline::to_abi(*tag);
  }
  return {};
}

plumb_status PLUMB_CALL begin(void* self, plumb_str prompt, plumb_error* error) {
  return plumbline::guarded(error, [&] {
    if (self == nullptr || (prompt.data == nullptr && prompt.bytes != 0))
      return fail(error, PLUMB_INVALID_ARGUMENT, "parser begin: an argument is missing");
    instance(self).parser.begin(to_view(prompt));
    return plumb_status{PLUMB_OK};
  });
}

constexpr plumb_output_parser kParser = {
    sizeof(plumb_output_parser), 0, create, destroy, feed, next, marker_at, begin};

const void* PLUMB_CALL extension(plumb_str id) {
  return to_view(id) == PLUMB_EXT_OUTPUT_PARSER ? &kParser : nullptr;
}

}  // namespace

PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, plumbline::no_rank, extension)
