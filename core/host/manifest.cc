#include "core/host/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/os/mapped_file.h"
#include "core/host/text.h"
#include "plumb/sdk/abi.h"

namespace plumbline {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kManifestBytesMax = 64 * 1024;
constexpr size_t kExtensionsMax = 64;

Error wrong(const std::string& message) {
  return {PLUMB_INVALID_CONFIG, message};
}

Result<std::string> text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::string();
  if (!found->is_string()) {
    return wrong(std::string("manifest: \"") + key + "\" is " + found->type_name() +
                 ", expected a string");
  }
  return one_line(found->get_ref<const std::string&>());
}

Result<void> read_abi(const Json& object, PluginFacts* facts) {
  const auto found = object.find("abi");
  if (found == object.end() || !found->is_array() || found->size() != 2 ||
      !(*found)[0].is_number_unsigned() || !(*found)[1].is_number_unsigned()) {
    return wrong("manifest: \"abi\" must be [oldest, newest], two version numbers");
  }
  const auto oldest = (*found)[0].get<uint64_t>();
  const auto newest = (*found)[1].get<uint64_t>();
  if (oldest < 1 || oldest > newest || newest > UINT32_MAX) {
    return wrong("manifest: \"abi\" is [" + std::to_string(oldest) + ", " + std::to_string(newest) +
                 "], expected 1 <= oldest <= newest");
  }
  facts->abi_oldest = static_cast<uint32_t>(oldest);
  facts->abi_newest = static_cast<uint32_t>(newest);
  return {};
}

Result<void> read_extensions(const Json& object, PluginFacts* facts) {
  const auto found = object.find("extensions");
  const bool is_list =
      found != object.end() && found->is_array() && found->size() <= kExtensionsMax &&
      std::all_of(found->begin(), found->end(), [](const Json& item) { return item.is_string(); });
  if (!is_list) {
    return wrong("manifest: \"extensions\" must be a list of at most " +
                 std::to_string(kExtensionsMax) + " extension ids");
  }
  for (const Json& item : *found)
    facts->extensions.push_back(one_line(item.get_ref<const std::string&>()));
  return {};
}

}  // namespace

bool is_plugin_id(std::string_view id) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !id.empty() && id.size() <= 100 && is_letter(id[0]) &&
         std::all_of(id.begin(), id.end(), [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
         });
}

Result<PluginFacts> parse_manifest(std::string_view json) {
  if (json.size() > kManifestBytesMax) {
    return wrong("manifest: " + std::to_string(json.size()) + " bytes, expected at most " +
                 std::to_string(kManifestBytesMax));
  }
  Json object;
  try {
    object = Json::parse(json);
  } catch (const Json::parse_error& caught) {
    const std::string_view what = caught.what();
    const size_t place = what.find("at line");
    return wrong("manifest: no JSON: " + one_line(place == what.npos ? what : what.substr(place)));
  }
  if (!object.is_object())
    return wrong(std::string("manifest: ") + object.type_name() + ", expected an object");

  PluginFacts facts;
  PLUMB_ASSIGN(facts.id, text(object, "id"));
  if (!is_plugin_id(facts.id)) {
    return wrong("manifest: \"id\" is \"" + facts.id + "\", expected " +
                 std::string(kPluginIdRule));
  }
  PLUMB_ASSIGN(facts.version, text(object, "version"));
  PLUMB_ASSIGN(facts.vendor, text(object, "vendor"));
  PLUMB_ASSIGN(facts.license, text(object, "license"));
  PLUMB_ASSIGN(facts.description, text(object, "description"));
  PLUMB_TRY(read_abi(object, &facts));
  PLUMB_TRY(read_extensions(object, &facts));
  return facts;
}

Result<PluginFacts> read_manifest(const std::string& path) {
  const auto file = os::MappedFile::open(path);
  if (!file) return wrong("manifest: " + file.error().message);
  return parse_manifest(to_view(file->bytes()));
}

std::string to_manifest(const PluginFacts& facts) {
  const Json object = {{"id", facts.id},
                       {"version", facts.version},
                       {"abi", {facts.abi_oldest, facts.abi_newest}},
                       {"extensions", facts.extensions},
                       {"vendor", facts.vendor},
                       {"license", facts.license},
                       {"description", facts.description}};
  return object.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace plumbline
