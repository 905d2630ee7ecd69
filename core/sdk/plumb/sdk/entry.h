// entry.h: the door of a C++ plugin. In one source file of the plugin:
//
//   static const plumb_plugin kPlugin = {...};
//   PLUMB_DEFINE_ENTRY(kPlugin)
//
// or, where the build defines the texts PLUMB_PLUGIN_ID, _VERSION, _VENDOR, _LICENSE, _DESCRIPTION
// and _BUILD (this project's CMake function plumb_plugin does):
//
//   PLUMB_DEFINE_PLUGIN(probe, rank, extension)
#pragma once

#include <algorithm>

#include "plumb/plugin.h"
#include "plumb/sdk/abi.h"

namespace plumbline {

/// Answers an offer: the newest version in both ranges, or INCOMPATIBLE with both ranges and the
/// remedy.
inline plumb_status answer_offer(const plumb_plugin& plugin, const plumb_offer* offer,
                                 plumb_answer* answer, plumb_error* error) {
  if (offer == nullptr || answer == nullptr || !PLUMB_HAS(offer, plumb_offer, version_newest) ||
      !PLUMB_HAS(answer, plumb_answer, plugin)) {
    return fail(error, PLUMB_INVALID_ARGUMENT,
                "plumb_plugin_entry: offer or answer is missing or too short");
  }
  answer->version_oldest = PLUMB_ABI_OLDEST;
  answer->version_newest = PLUMB_ABI_VERSION;
  const uint32_t common = std::min<uint32_t>(PLUMB_ABI_VERSION, offer->version_newest);
  if (common < PLUMB_ABI_OLDEST || common < offer->version_oldest) {
    return failf(
        error, PLUMB_INCOMPATIBLE, "plugin speaks ABI %u to %u, host %u to %u: %s",
        PLUMB_ABI_OLDEST, PLUMB_ABI_VERSION, offer->version_oldest, offer->version_newest,
        offer->version_newest < PLUMB_ABI_OLDEST ? "use a newer host" : "rebuild the plugin");
  }
  answer->version = common;
  answer->plugin = &plugin;
  return PLUMB_OK;
}

/// The probe of a plugin that runs on any machine.
inline plumb_status PLUMB_CALL runs_anywhere(plumb_error*) {
  return PLUMB_OK;
}
/// The rank of a plugin that is neither better nor worse than another of its kind.
inline int32_t PLUMB_CALL no_rank() {
  return 0;
}

}  // namespace plumbline

#define PLUMB_DEFINE_ENTRY(plugin)                                          \
  extern "C" PLUMB_EXPORT plumb_status PLUMB_CALL plumb_plugin_entry(       \
      const plumb_offer* offer, plumb_answer* answer, plumb_error* error) { \
    return ::plumbline::answer_offer(plugin, offer, answer, error);         \
  }

#define PLUMB_DEFINE_PLUGIN(probe_function, rank_function, extension_function) \
  static constexpr plumb_plugin kPlumbPlugin = {                               \
      .struct_bytes = sizeof(plumb_plugin),                                    \
      .reserved = 0,                                                           \
      .id = ::plumbline::to_abi(PLUMB_PLUGIN_ID),                              \
      .version = ::plumbline::to_abi(PLUMB_PLUGIN_VERSION),                    \
      .vendor = ::plumbline::to_abi(PLUMB_PLUGIN_VENDOR),                      \
      .license = ::plumbline::to_abi(PLUMB_PLUGIN_LICENSE),                    \
      .description = ::plumbline::to_abi(PLUMB_PLUGIN_DESCRIPTION),            \
      .build = ::plumbline::to_abi(PLUMB_PLUGIN_BUILD),                        \
      .probe = probe_function,                                                 \
      .rank = rank_function,                                                   \
      .extension = extension_function,                                         \
  };                                                                           \
  PLUMB_DEFINE_ENTRY(kPlumbPlugin)
