#include "core/host/extensions.h"

namespace plumbline {
namespace {

// Each names the functions that its header does not call optional.
#define PLUMB_REQUIRE(name) \
  if (table.name == nullptr) return #name

std::string_view missing(const plumb_kernels& table) {
  PLUMB_REQUIRE(create);
  PLUMB_REQUIRE(destroy);
  PLUMB_REQUIRE(supports);
  PLUMB_REQUIRE(alloc);
  PLUMB_REQUIRE(free);
  PLUMB_REQUIRE(read);
  PLUMB_REQUIRE(write);
  PLUMB_REQUIRE(prepare_bytes);
  PLUMB_REQUIRE(prepare);
  PLUMB_REQUIRE(release);
  PLUMB_REQUIRE(activation_bytes);
  PLUMB_REQUIRE(kv_create);
  PLUMB_REQUIRE(kv_destroy);
  PLUMB_REQUIRE(kv_truncate);
  PLUMB_REQUIRE(kv_export);
  PLUMB_REQUIRE(kv_import);
  PLUMB_REQUIRE(worker_create);
  PLUMB_REQUIRE(worker_destroy);
  PLUMB_REQUIRE(plan);
  PLUMB_REQUIRE(execute);
  if (table.submit != nullptr) PLUMB_REQUIRE(fence);
  if (table.fence != nullptr) PLUMB_REQUIRE(submit);
  if (PLUMB_HAS(&table, plumb_kernels, prepare_rows)) {
    if (table.prepare_begin != nullptr) PLUMB_REQUIRE(prepare_rows);
    if (table.prepare_rows != nullptr) PLUMB_REQUIRE(prepare_begin);
  }
  return {};
}

std::string_view missing(const plumb_loader& table) {
  PLUMB_REQUIRE(recognise);
  PLUMB_REQUIRE(open);
  PLUMB_REQUIRE(close);
  PLUMB_REQUIRE(hyper_parameters);
  PLUMB_REQUIRE(metadata);
  PLUMB_REQUIRE(n_tensors);
  PLUMB_REQUIRE(tensor_at);
  PLUMB_REQUIRE(done_with);
  return {};
}

std::string_view missing(const plumb_tokenizer& table) {
  PLUMB_REQUIRE(recognise);
  PLUMB_REQUIRE(create);
  PLUMB_REQUIRE(destroy);
  PLUMB_REQUIRE(info);
  PLUMB_REQUIRE(attributes);
  PLUMB_REQUIRE(encode);
  PLUMB_REQUIRE(piece);
  return {};
}

std::string_view missing(const plumb_template_engine& table) {
  PLUMB_REQUIRE(create);
  PLUMB_REQUIRE(destroy);
  PLUMB_REQUIRE(render);
  return {};
}

std::string_view missing(const plumb_sampler& table) {
  PLUMB_REQUIRE(stage_at);
  PLUMB_REQUIRE(parameters_schema_at);
  PLUMB_REQUIRE(create);
  PLUMB_REQUIRE(destroy);
  PLUMB_REQUIRE(scratch_bytes);
  PLUMB_REQUIRE(apply);
  if (table.state_bytes != nullptr) {
    PLUMB_REQUIRE(state_get);
    PLUMB_REQUIRE(state_set);
  }
  return {};
}

std::string_view missing(const plumb_output_parser& table) {
  PLUMB_REQUIRE(create);
  PLUMB_REQUIRE(destroy);
  PLUMB_REQUIRE(feed);
  PLUMB_REQUIRE(next);
  return {};
}

std::string_view missing(const plumb_model_source& table) {
  PLUMB_REQUIRE(model_at);
  PLUMB_REQUIRE(recipe);
  return {};
}

std::string_view missing(const plumb_model_writer& table) {
  PLUMB_REQUIRE(layout);
  return {};
}

#undef PLUMB_REQUIRE

/// oldest_bytes: what the table had in the first version; fields behind it are asked for before
/// use.
template <typename Table>
constexpr Extension make_extension(std::string_view id, uint32_t oldest_bytes = sizeof(Table)) {
  return {id, oldest_bytes,
          [](const void* table) { return missing(*static_cast<const Table*>(table)); }};
}

constexpr Extension kExtensions[] = {
    make_extension<plumb_kernels>(PLUMB_EXT_KERNELS, offsetof(plumb_kernels, variant)),
    make_extension<plumb_loader>(PLUMB_EXT_LOADER, offsetof(plumb_loader, done_with_bytes)),
    make_extension<plumb_tokenizer>(PLUMB_EXT_TOKENIZER),
    make_extension<plumb_template_engine>(PLUMB_EXT_TEMPLATE),
    make_extension<plumb_sampler>(PLUMB_EXT_SAMPLER),
    make_extension<plumb_output_parser>(PLUMB_EXT_OUTPUT_PARSER,
                                        offsetof(plumb_output_parser, marker_at)),
    make_extension<plumb_model_source>(PLUMB_EXT_MODEL_SOURCE),
    make_extension<plumb_model_writer>(PLUMB_EXT_MODEL_WRITER),
};

}  // namespace

std::span<const Extension> known_extensions() {
  return kExtensions;
}

const Extension* find_extension(std::string_view id) {
  for (const Extension& extension : kExtensions) {
    if (extension.id == id) return &extension;
  }
  return nullptr;
}

template <>
const Extension& extension_of<plumb_kernels>() {
  return kExtensions[0];
}
template <>
const Extension& extension_of<plumb_loader>() {
  return kExtensions[1];
}
template <>
const Extension& extension_of<plumb_tokenizer>() {
  return kExtensions[2];
}
template <>
const Extension& extension_of<plumb_template_engine>() {
  return kExtensions[3];
}
template <>
const Extension& extension_of<plumb_sampler>() {
  return kExtensions[4];
}
template <>
const Extension& extension_of<plumb_output_parser>() {
  return kExtensions[5];
}
template <>
const Extension& extension_of<plumb_model_source>() {
  return kExtensions[6];
}
template <>
const Extension& extension_of<plumb_model_writer>() {
  return kExtensions[7];
}

}  // namespace plumbline
