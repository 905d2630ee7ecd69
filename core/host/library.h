// library.h: loads a library, asks at its door, and checks every answer before it is used.
#pragma once

#include <string>

#include "core/host/extensions.h"
#include "core/host/report.h"
#include "plumb/plugin.h"
#include "plumb/sdk/result.h"

namespace plumbline {

/// A plugin that has answered: the version is agreed and the struct is whole. It lives as long as
/// the process.
struct Plugin {
  const plumb_plugin* table = nullptr;
  PluginFacts facts;
};

/// Loads the library at an absolute path (once in a process, and never unloads it) and asks at its
/// door. The floating-point modes are as before, whatever its constructors do. Fails CORRUPT (not a
/// library), NOT_FOUND (a library that it needs), INCOMPATIBLE (a symbol that it needs, no entry,
/// another ABI version, a struct too short), INTERNAL (a broken promise). [any-thread]
Result<Plugin> open_library(const std::string& path);

/// The same for an entry that is linked into this program.
Result<Plugin> open_entry(plumb_plugin_entry_fn entry);

/// Can it run here? UNSUPPORTED with its reason. [any-thread]
Result<void> probe(const Plugin& plugin);

int32_t rank_of(const Plugin& plugin);

/// The table of an extension. Fails NOT_FOUND (it does not have it), INCOMPATIBLE (too short, or a
/// required function is null). [any-thread]
Result<const void*> table_of(const Plugin& plugin, const Extension& extension);

/// Who must act, and how, by status code.
std::string_view remedy_for(plumb_status code);

}  // namespace plumbline
