#include "tests/support/build_plugins.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>

#include "core/base/os/mapped_file.h"
#include "plumb/sdk/abi.h"

namespace plumbline::test {

namespace {

class Mappings {
 public:
  static plumb_status map(void* self, plumb_str path, plumb_bytes* out, plumb_handle* mapping,
                          plumb_error* error) {
    auto file = os::MappedFile::open(to_string(path));
    if (!file) return fail(error, file.error());
    auto& mappings = *static_cast<Mappings*>(self);
    const std::lock_guard lock(mappings.mutex_);
    *mapping = ++mappings.last_;
    *out = file->bytes();
    mappings.files_.emplace(*mapping, *std::move(file));
    return PLUMB_OK;
  }

  static void unmap(void* self, plumb_handle mapping) {
    auto& mappings = *static_cast<Mappings*>(self);
    const std::lock_guard lock(mappings.mutex_);
    mappings.files_.erase(mapping);
  }

 private:
  std::mutex mutex_;
  plumb_handle last_ = 0;
  std::map<plumb_handle, os::MappedFile> files_;
};

bool offers(std::filesystem::path library, std::string_view extension) {
  std::ifstream file(library.replace_extension(".plugin.json"));
  const std::string manifest{std::istreambuf_iterator<char>(file), {}};
  return manifest.find(extension) != std::string::npos;
}

const plumb_plugin* open_plugin(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto enter = reinterpret_cast<plumb_plugin_entry_fn>(dlsym(library, PLUMB_PLUGIN_ENTRY));
  if (enter == nullptr) throw std::runtime_error(path + ": no " PLUMB_PLUGIN_ENTRY);
  plumb_offer offer = make_abi<plumb_offer>();
  offer.version_oldest = PLUMB_ABI_OLDEST;
  offer.version_newest = PLUMB_ABI_VERSION;
  offer.host = &small_host();
  plumb_answer answer = make_abi<plumb_answer>();
  ErrorBuffer error;
  const plumb_status status = enter(&offer, &answer, error);
  if (status != PLUMB_OK) throw std::runtime_error(path + ": " + error.take(status).message);
  return answer.plugin;
}

}  // namespace

const plumb_host& small_host() {
  static Mappings mappings;
  static const plumb_host host = [] {
    plumb_host made = make_abi<plumb_host>();
    made.context = &mappings;
    made.log = [](void*, int32_t, plumb_str) {};
    made.map_file = Mappings::map;
    made.unmap_file = Mappings::unmap;
    return made;
  }();
  return host;
}

std::vector<const plumb_plugin*> open_plugins(const std::string& folder,
                                              std::string_view extension) {
  std::vector<const plumb_plugin*> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".so" && offers(entry.path(), extension)) {
      found.push_back(open_plugin(entry.path().string()));
    }
  }
  std::sort(found.begin(), found.end(), [](const plumb_plugin* a, const plumb_plugin* b) {
    return to_view(a->id) < to_view(b->id);
  });
  return found;
}

}  // namespace plumbline::test
