// extensions.h: the extensions that this host knows: id, smallest table, functions that must be
// there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "plumb/plumb.h"

namespace plumbline {

struct Extension {
  std::string_view id;
  /// What a table of this revision's first version measures. Write the number out when the table
  /// grows.
  uint32_t struct_bytes;
  /// The name of the first required function that is null, or "".
  std::string_view (*first_missing)(const void* table);
};

/// All of them.
std::span<const Extension> known_extensions();
/// Null if unknown.
const Extension* find_extension(std::string_view id);

/// The extension whose table is a Table.
template <typename Table>
const Extension& extension_of();
template <>
const Extension& extension_of<plumb_kernels>();
template <>
const Extension& extension_of<plumb_loader>();
template <>
const Extension& extension_of<plumb_tokenizer>();
template <>
const Extension& extension_of<plumb_template_engine>();
template <>
const Extension& extension_of<plumb_sampler>();
template <>
const Extension& extension_of<plumb_output_parser>();
template <>
const Extension& extension_of<plumb_model_source>();
template <>
const Extension& extension_of<plumb_model_writer>();

}  // namespace plumbline
