#include "core/host/library.h"

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

#include <algorithm>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include "core/base/float_environment.h"
#include "core/base/os/library_file.h"
#include "core/host/manifest.h"
#include "core/host/services.h"
#include "core/host/text.h"
#include "plumb/sdk/abi.h"

namespace plumbline {
namespace {

namespace dll = boost::dll;

/// Boost.DLL's text with only the loader's own words left: "/a/b.so: file too short".
std::string loader_text(const std::string& what) {
  constexpr std::string_view kBefore = "dlerror system message: ";
  const size_t begin = what.find(kBefore);
  const size_t end = what.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return one_line(what);
  return one_line(
      std::string_view(what).substr(begin + kBefore.size(), end - begin - kBefore.size()));
}

Error load_error(const std::string& path, const std::string& what) {
  std::string text = loader_text(what);
  if (!text.starts_with(path + ": "))
    return {PLUMB_NOT_FOUND, "cannot load what it needs: " + text};
  text.erase(0, path.size() + 2);
  if (text.find("undefined symbol") != std::string::npos)
    return {PLUMB_INCOMPATIBLE, std::move(text)};
  return {PLUMB_CORRUPT, "not a loadable library: " + text};
}

/// A string of a plugin's description: a sane length, no control character.
Result<std::string> checked_text(const char* field, plumb_str text) {
  if (text.bytes > 4096 || (text.bytes > 0 && text.data == nullptr)) {
    return Error{PLUMB_INTERNAL,
                 std::string("the plugin's ") + field + " is no valid view of a text"};
  }
  return one_line(to_view(text));
}

std::string range(uint32_t oldest, uint32_t newest) {
  return std::to_string(oldest) + " to " + std::to_string(newest);
}

/// What a plugin said of its failure, fit for a message.
Error said_by(plumb_status status, const ErrorBuffer& said) {
  const Error error = said.take(status);
  if (status >= PLUMB_INVALID_ARGUMENT && status <= PLUMB_INTERNAL) {
    return {status, one_line(error.message)};
  }
  return {PLUMB_INTERNAL, "status " + std::to_string(status) + " is none of the ABI's (" +
                              one_line(error.message) + ")"};
}

/// The refusal of an entry. Of two ranges that do not meet, both are told; the plugin's own words
/// only if it did not fill in its range.
Error refusal(plumb_status status, const ErrorBuffer& said, const plumb_answer& answer) {
  const Error error = said_by(status, said);
  const bool has_range =
      answer.version_oldest > 0 && answer.version_newest >= answer.version_oldest;
  if (status == PLUMB_INCOMPATIBLE && has_range) {
    return {status, "the plugin speaks ABI " + range(answer.version_oldest, answer.version_newest) +
                        ", this host " + range(PLUMB_ABI_OLDEST, PLUMB_ABI_VERSION)};
  }
  return {error.code, "its entry failed: " + error.message};
}

Result<Plugin> check_answer(const plumb_answer& answer) {
  if (answer.version < PLUMB_ABI_OLDEST || answer.version > PLUMB_ABI_VERSION) {
    return Error{PLUMB_INCOMPATIBLE, "the plugin chose ABI version " +
                                         std::to_string(answer.version) + ", this host offered " +
                                         range(PLUMB_ABI_OLDEST, PLUMB_ABI_VERSION)};
  }
  const plumb_plugin* table = answer.plugin;
  if (table == nullptr) return Error{PLUMB_INTERNAL, "its entry succeeded without a plugin"};
  constexpr uint32_t kNeeded = offsetof(plumb_plugin, extension) + sizeof(plumb_plugin::extension);
  if (table->struct_bytes < kNeeded) {
    return Error{PLUMB_INCOMPATIBLE, "plumb_plugin.struct_bytes is " +
                                         std::to_string(table->struct_bytes) +
                                         ", expected at least " + std::to_string(kNeeded)};
  }
  if (table->probe == nullptr || table->rank == nullptr || table->extension == nullptr) {
    return Error{PLUMB_INTERNAL, "plumb_plugin lacks probe, rank or extension"};
  }
  Plugin plugin{table, {}};
  PLUMB_ASSIGN(plugin.facts.id, checked_text("id", table->id));
  if (!is_plugin_id(plugin.facts.id)) {
    return Error{PLUMB_INTERNAL, "the plugin's id is \"" + plugin.facts.id + "\", expected " +
                                     std::string(kPluginIdRule)};
  }
  PLUMB_ASSIGN(plugin.facts.version, checked_text("version", table->version));
  PLUMB_ASSIGN(plugin.facts.vendor, checked_text("vendor", table->vendor));
  PLUMB_ASSIGN(plugin.facts.license, checked_text("license", table->license));
  PLUMB_ASSIGN(plugin.facts.description, checked_text("description", table->description));
  PLUMB_ASSIGN(plugin.facts.build, checked_text("build", table->build));
  plugin.facts.abi_oldest = answer.version_oldest;
  plugin.facts.abi_newest = answer.version_newest;
  for (const Extension& extension : known_extensions()) {
    if (table->extension(to_abi(extension.id)) != nullptr) {
      plugin.facts.extensions.emplace_back(extension.id);
    }
  }
  return plugin;
}

Result<Plugin> load(const std::string& path) {
  // Never destroyed: a plugin's code may run until the process ends.
  static std::list<dll::shared_library>& loaded = *new std::list<dll::shared_library>;
  PLUMB_TRY(os::check_library_file(path));
  const FloatEnvironmentGuard guard;
  try {
    dll::shared_library library(path, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
    if (!library.has(PLUMB_PLUGIN_ENTRY)) {
      return Error{PLUMB_INCOMPATIBLE,
                   "a library, but no plugin: it does not export " PLUMB_PLUGIN_ENTRY};
    }
    loaded.push_back(std::move(library));
    return open_entry(
        &loaded.back().get<std::remove_pointer_t<plumb_plugin_entry_fn>>(PLUMB_PLUGIN_ENTRY));
  } catch (const std::exception& caught) {
    return load_error(path, caught.what());
  }
}

}  // namespace

Result<Plugin> open_entry(plumb_plugin_entry_fn entry) {
  const FloatEnvironmentGuard guard;
  auto offer = make_abi<plumb_offer>();
  offer.version_oldest = PLUMB_ABI_OLDEST;
  offer.version_newest = PLUMB_ABI_VERSION;
  offer.host = host_services();
  auto answer = make_abi<plumb_answer>();
  ErrorBuffer said;
  const plumb_status status = guarded(said, [&] { return entry(&offer, &answer, said); });
  if (status != PLUMB_OK) return refusal(status, said, answer);
  try {
    return check_answer(answer);
  } catch (...) {
    return Error{PLUMB_INTERNAL, "an exception came out of its extension function"};
  }
}

Result<Plugin> open_library(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, Result<Plugin>>& opened = *new std::map<std::string, Result<Plugin>>;
  const std::lock_guard lock(mutex);
  const auto known = opened.find(path);
  if (known != opened.end()) return known->second;
  Result<Plugin> plugin = load(path);
  if (plugin) opened.emplace(path, plugin);
  return plugin;
}

Result<void> probe(const Plugin& plugin) {
  const FloatEnvironmentGuard guard;
  ErrorBuffer said;
  const plumb_status status = guarded(said, [&] { return plugin.table->probe(said); });
  if (status == PLUMB_OK) return {};
  return said_by(status, said).at("it cannot run here");
}

int32_t rank_of(const Plugin& plugin) {
  int32_t rank = 0;
  guarded(nullptr, [&] { return rank = plugin.table->rank(), PLUMB_OK; });
  return rank;
}

Result<const void*> table_of(const Plugin& plugin, const Extension& extension) {
  const void* table = nullptr;
  guarded(nullptr, [&] { return table = plugin.table->extension(to_abi(extension.id)), PLUMB_OK; });
  if (table == nullptr) return Error{PLUMB_NOT_FOUND, "it has no " + std::string(extension.id)};
  const uint32_t struct_bytes = *static_cast<const uint32_t*>(table);
  if (struct_bytes < extension.struct_bytes) {
    return Error{PLUMB_INCOMPATIBLE, "its table for " + std::string(extension.id) + " measures " +
                                         std::to_string(struct_bytes) +
                                         " bytes, expected at least " +
                                         std::to_string(extension.struct_bytes)};
  }
  const std::string_view missing = extension.first_missing(table);
  if (!missing.empty()) {
    return Error{PLUMB_INCOMPATIBLE, "its table for " + std::string(extension.id) +
                                         " lacks the function " + std::string(missing)};
  }
  return table;
}

std::string_view remedy_for(plumb_status code) {
  switch (code) {
    case PLUMB_OK:
      return "";
    case PLUMB_INVALID_CONFIG:
      return "correct the manifest, or delete it to have the library scanned";
    case PLUMB_NOT_FOUND:
      return "install what is missing, or correct the path";
    case PLUMB_UNSUPPORTED:
      return "pick another plugin";
    case PLUMB_INCOMPATIBLE:
      return "rebuild the plugin with this host's headers, or use the host it was built for";
    case PLUMB_CORRUPT:
      return "replace the file";
    default:
      return "tell the plugin's author";
  }
}

}  // namespace plumbline
