#include "writer_table.h"

#include <algorithm>

#include "model.h"
#include "rewrite.h"

namespace plumbline::loaders::gguf {
namespace {

plumb_status PLUMB_CALL layout(void* model, plumb_file_layout* out, plumb_error* error) {
  return guarded(error, [&]() -> plumb_status {
    if (out == nullptr || !PLUMB_HAS(out, plumb_file_layout, file_bytes) ||
        (out->n_tensors != 0 && (out->formats == nullptr || out->offsets == nullptr)) ||
        (out->head_capacity_bytes != 0 && out->head == nullptr)) {
      return fail(error, PLUMB_INVALID_ARGUMENT,
                  "layout: its record is missing, or too short, or has no room");
    }
    const auto made =
        rewrite(model_of(model).file, out->main_format, std::span(out->formats, out->n_tensors));
    if (!made) return fail(error, made.error());
    out->head_bytes = made->head.size();
    out->file_bytes = made->file_bytes;
    if (out->head_capacity_bytes < made->head.size()) {
      return failf(error, PLUMB_MORE_SPACE, "a head of %llu bytes, room for %llu",
                   static_cast<unsigned long long>(made->head.size()),
                   static_cast<unsigned long long>(out->head_capacity_bytes));
    }
    std::ranges::copy(made->head, out->head);
    std::ranges::copy(made->offsets, out->offsets);
    return PLUMB_OK;
  });
}

constexpr plumb_model_writer kTable = {
    .struct_bytes = sizeof(plumb_model_writer),
    .reserved = 0,
    .layout = layout,
};

}  // namespace

const plumb_model_writer& writer_table() {
  return kTable;
}

}  // namespace plumbline::loaders::gguf
