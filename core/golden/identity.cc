#include "core/golden/identity.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/config/show.h"
#include "core/golden/json_node.h"
#include "core/hash/sha256.h"
#include "plumb/sdk/abi.h"

namespace plumbline::golden {
namespace {

namespace fs = std::filesystem;

std::string_view raw(const void* data, size_t bytes) {
  return {static_cast<const char*>(data), bytes};
}

std::string counted(char type, uint64_t n) {
  return type + std::to_string(n) + std::string(1, '\0');
}

void add_text(plumb_str text, Sha256& hash) {
  hash.update(counted('s', text.bytes));
  hash.update(to_view(text));
}

void add_value(const plumb_value& value, Sha256& hash) {
  const auto& array = value.as.array;
  switch (value.type) {
    case PLUMB_VALUE_I64:
      return hash.update("i" + std::to_string(value.as.i64) + std::string(1, '\0'));
    case PLUMB_VALUE_U64:
      return hash.update(counted('i', value.as.u64));
    case PLUMB_VALUE_F64:
      hash.update("f");
      return hash.update(raw(&value.as.f64, sizeof value.as.f64));
    case PLUMB_VALUE_BOOL:
      return hash.update(value.as.u64 != 0 ? "b1" : "b0");
    case PLUMB_VALUE_STR:
      return add_text(value.as.str, hash);
    case PLUMB_VALUE_I32_ARRAY:
    case PLUMB_VALUE_F32_ARRAY:
      hash.update(counted('a', array.n));
      return hash.update(raw(array.data, 4 * array.n));
    case PLUMB_VALUE_STR_ARRAY:
      hash.update(counted('a', array.n));
      for (uint64_t i = 0; i < array.n; ++i)
        add_text(static_cast<const plumb_str*>(array.data)[i], hash);
      return;
    default:
      hash.update("?");
  }
}

/// Versions and hashes of the libraries of this process's plugins.
class Libraries {
 public:
  explicit Libraries(const Host& host) : host_(&host) {}

  Result<PluginIdentity> find(const std::string& kind, const std::string& id) {
    PluginIdentity plugin{kind, id, "", ""};
    for (const PluginReport& report : host_->report().plugins) {
      if (report.facts.id != id || report.decision == Decision::kShadowed) continue;
      plugin.version = report.facts.version;
      if (!report.path.empty()) {
        PLUMB_ASSIGN(plugin.sha256, sha256_of_file(report.path));
      }
    }
    return plugin;
  }

 private:
  const Host* host_;
};

Error differs(const std::string& what, const std::string& recorded, const std::string& seen) {
  const auto shown = [](const std::string& hash) { return hash.empty() ? "none" : hash; };
  return {PLUMB_INCOMPATIBLE, what + ": found sha256 " + shown(seen) +
                                  ", but the golden data is of " + shown(recorded) +
                                  ": this is another model, so there is nothing to compare"};
}

}  // namespace

std::string tokenizer_sha256(const plumb_metadata& metadata) {
  std::vector<std::string> keys;
  for (uint64_t i = 0;; ++i) {
    const plumb_str key = metadata.key_at(metadata.context, i);
    if (key.bytes == 0) break;
    const std::string_view name = to_view(key);
    if (name.starts_with("tokenizer.") && !name.starts_with("tokenizer.chat_template"))
      keys.emplace_back(name);
  }
  std::ranges::sort(keys);
  Sha256 hash;
  for (const std::string& key : keys) {
    auto value = make_abi<plumb_value>();
    metadata.get(metadata.context, to_abi(key), &value);
    hash.update(key + std::string(1, '\0'));
    add_value(value, hash);
  }
  return hash.finish();
}

Result<Identity> model_identity(pipeline::Pipeline& pipeline) {
  Identity identity;
  const std::string& path = pipeline.file().path();
  std::error_code failed;
  identity.weights_name = fs::path(path).filename().string();
  if (!fs::is_directory(path, failed)) identity.weights_bytes = fs::file_size(path, failed);
  PLUMB_ASSIGN(identity.weights_sha256, sha256_of_path(path));
  PLUMB_ASSIGN(const model::ModelFile* const tokenizer, pipeline.tokenizer_file());
  identity.tokenizer_sha256 = tokenizer_sha256(tokenizer->metadata());
  PLUMB_ASSIGN(const std::string_view text, pipeline.template_text());
  if (!text.empty()) identity.template_sha256 = sha256_of(text);
  return identity;
}

Result<Identity> identity_of(diff::Side& side, const Host& host) {
  pipeline::Pipeline& pipeline = side.pipeline();
  PLUMB_ASSIGN(Identity identity, model_identity(pipeline));
  identity.numerics = side.identity().numerics;
  identity.activations = side.identity().activations;
  identity.kv = side.identity().kv;

  Libraries libraries(host);
  std::vector<std::pair<std::string, std::string>> used{{"loader", pipeline.loader_id()}};
  PLUMB_ASSIGN(const pipeline::Tokenizer* encoder, pipeline.tokenizer());
  used.emplace_back("tokenizer", encoder->id());
  for (const auto& backend : pipeline.backends()) used.emplace_back("kernels", backend->id());
  for (const auto& [kind, id] : used) {
    PLUMB_ASSIGN(PluginIdentity plugin, libraries.find(kind, id));
    identity.plugins.push_back(std::move(plugin));
  }
  if (!side.identity().is_runner) {
    const auto resolved = nlohmann::json::parse(config::show_json(side.config()), nullptr, false);
    if (resolved.is_object() && resolved.contains("config"))
      identity.config = resolved["config"].dump();
  }
  return identity;
}

Result<void> check_identity(const Identity& recorded, const Identity& seen) {
  if (recorded.weights_sha256 != seen.weights_sha256)
    return differs("weights", recorded.weights_sha256, seen.weights_sha256);
  if (recorded.tokenizer_sha256 != seen.tokenizer_sha256)
    return differs("tokenizer", recorded.tokenizer_sha256, seen.tokenizer_sha256);
  if (recorded.template_sha256 != seen.template_sha256)
    return differs("chat template", recorded.template_sha256, seen.template_sha256);
  return {};
}

}  // namespace plumbline::golden
