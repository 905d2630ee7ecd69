// Prompts without control characters, and the table of plumb.template/1.
#include <plumb/sdk/abi.h>

#include <algorithm>
#include <memory>

#include "extension.h"

namespace {

using plumbline::fail;
using plumbline::guarded;

struct Engine {
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() {
    if (inner != nullptr) inner->destroy(compiled);
  }

  const plumb_template_engine* inner = nullptr;  // plumb.templates.jinja's, once it has compiled
  void* compiled = nullptr;
};

plumb_status create(const plumb_host* host, plumb_str source, plumb_str options_json, void** self,
                    plumb_error* error) {
  return guarded(error, [&] {
    if (host == nullptr || !PLUMB_HAS(host, plumb_host, find_extension) ||
        host->find_extension == nullptr || self == nullptr)
      return fail(error, PLUMB_UNSUPPORTED, "this host hands out no other plugin's table");
    const void* table = nullptr;
    const plumb_host* inner_host = nullptr;
    const plumb_status found = host->find_extension(
        host->context, plumbline::to_abi(PLUMB_EXT_TEMPLATE),
        plumbline::to_abi("plumb.templates.jinja"), &table, &inner_host, error);
    if (found != PLUMB_OK) return found;
    const auto* inner = static_cast<const plumb_template_engine*>(table);
    auto made = std::make_unique<Engine>();
    const plumb_status status =
        inner->create(inner_host, source, options_json, &made->compiled, error);
    if (status != PLUMB_OK) return status;
    made->inner = inner;
    *self = made.release();
    return status;
  });
}

void destroy(void* self) {
  delete static_cast<Engine*>(self);
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
}

plumb_status render(void* self, const plumb_render_request* request, char* out, uint64_t capacity,
                    uint64_t* n_bytes, plumb_error* error) {
  const auto& engine = *static_cast<const Engine*>(self);
  const plumb_status status =
      engine.inner->render(engine.compiled, request, out, capacity, n_bytes, error);
  if (status != PLUMB_OK) return status;
  const char* const end = out + *n_bytes;
  const char* const found = std::find_if(out, out + *n_bytes, is_control);
  if (found == end) return PLUMB_OK;
  return plumbline::failf(error, PLUMB_INVALID_ARGUMENT,
                          "the prompt has the control character 0x%02x at byte %lld",
                          static_cast<unsigned char>(*found), static_cast<long long>(found - out));
}

constexpr plumb_template_engine kTable = {
    .struct_bytes = sizeof(plumb_template_engine),
    .reserved = 0,
    .create = create,
    .destroy = destroy,
    .render = render,
};

}  // namespace

const void* PLUMB_CALL extension(plumb_str id) {
  return plumbline::to_view(id) == PLUMB_EXT_TEMPLATE ? &kTable : nullptr;
}

int32_t PLUMB_CALL rank() {
  return PLUMB_RANK_NAMED_ONLY;
}
