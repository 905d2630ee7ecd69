#include "core/golden/bundle.h"

#include <set>

#include "core/base/utf8_check.h"
#include "core/golden/json_node.h"

namespace plumbline::golden {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kPromptsMax = 10000;
constexpr size_t kIdsMax = size_t{1} << 20;
constexpr size_t kListMax = 4096;  // plugins, kinds of tensors, formats

// ---- reading

MadeBy read_made_by(const JsonNode& node) {
  MadeBy made{node["engine"].text(), node["version"].text()};
  for (const auto& [name, version] : node["with"].members(kListMax))
    made.with[name] = version.text();
  if (!node["config"].is_null()) made.config = node["config"].text();
  return made;
}

Identity read_identity(const JsonNode& node) {
  Identity identity;
  const JsonNode weights = node["weights"];
  identity.weights_name = weights["name"].text();
  identity.weights_bytes = weights["bytes"].count();
  identity.weights_sha256 = weights["sha256"].sha256();
  identity.tokenizer_sha256 = node["tokenizer_sha256"].sha256();
  if (!node["template_sha256"].is_null())
    identity.template_sha256 = node["template_sha256"].sha256();
  identity.numerics = node["numerics"].text();
  identity.activations = node["activations"].text();
  identity.kv = node["kv"].text();
  for (const JsonNode& plugin : node["plugins"].items(kListMax)) {
    identity.plugins.push_back({plugin["kind"].text(), plugin["id"].text(),
                                plugin["version"].text(),
                                plugin["sha256"].is_null() ? "" : plugin["sha256"].sha256()});
  }
  if (!node["config"].is_null()) identity.config = node["config"].dump();
  return identity;
}

std::vector<int32_t> read_ids(const JsonNode& node) {
  std::vector<int32_t> ids;
  for (const JsonNode& id : node.items(kIdsMax)) ids.push_back(id.id());
  return ids;
}

/// None below 0; above_zero: nor 0.
std::vector<double> read_numbers(const JsonNode& node, bool above_zero) {
  std::vector<double> numbers;
  for (const JsonNode& number : node.items(kIdsMax)) {
    const double value = number.number();
    if (value < 0 || (above_zero && value == 0))
      number.refuse(above_zero ? "a number above 0" : "a number from 0 on");
    numbers.push_back(value);
  }
  return numbers;
}

std::vector<TopLogit> read_top(const JsonNode& node) {
  std::vector<TopLogit> top;
  for (const JsonNode& one : node.items(kIdsMax))
    top.push_back({one["id"].id(), static_cast<float>(one["logit"].number())});
  return top;
}

GoldenPrompt read_prompt(const JsonNode& node) {
  GoldenPrompt prompt;
  prompt.name = node["name"].text();
  prompt.text = node["text"].is_null() ? node["bytes_hex"].hex_bytes() : node["text"].text();
  prompt.ids = read_ids(node["ids"]);
  if (prompt.ids.empty()) node["ids"].refuse("one id at least");
  prompt.logits_file = node["logits"]["file"].file_name();
  prompt.logits_sha256 = node["logits"]["sha256"].sha256();
  prompt.top = read_top(node["top"]);
  const JsonNode greedy = node["greedy"];
  // A lead is none below 0, and a row without spread cannot be measured in sigmas.
  prompt.greedy = {read_ids(greedy["ids"]), read_numbers(greedy["gaps"], false),
                   read_numbers(greedy["sigmas"], true)};
  const size_t n = prompt.greedy.ids.size();
  if (prompt.greedy.gaps.size() != n || prompt.greedy.sigmas.size() != n)
    greedy.refuse("as many gaps and sigmas as ids");
  return prompt;
}

Requantised read_requantised(const JsonNode& node, const std::set<std::string>& names) {
  Requantised made{node["to"].text(), read_made_by(node["made_by"]), {}, {}};
  for (const JsonNode& one : node["tensors"].items(kListMax)) {
    RequantisedTensors tensors{
        one["kind"].text(), one["n_tensors"].count(), {}, one["to"].text(), one["sha256"].sha256()};
    for (const JsonNode& from : one["from"].items(kListMax)) tensors.from.push_back(from.text());
    made.tensors.push_back(std::move(tensors));
  }
  for (const JsonNode& one : node["prompts"].items(kPromptsMax)) {
    made.prompts.push_back({one["name"].text(), read_top(one["top"]), one["cosine"].number(),
                            one["mean_absolute"].number()});
    if (!names.contains(made.prompts.back().name)) one["name"].refuse("a prompt of the bundle");
  }
  return made;
}

// ---- writing

std::string to_hex(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    digits += kDigits[byte >> 4];
    digits += kDigits[byte & 15];
  }
  return digits;
}

Json to_json(const MadeBy& made) {
  return {{"engine", made.engine},
          {"version", made.version},
          {"with", Json(made.with)},
          {"config", made.config}};
}

Json to_json(const Identity& identity) {
  Json plugins = Json::array();
  for (const PluginIdentity& plugin : identity.plugins) {
    plugins.push_back({{"kind", plugin.kind},
                       {"id", plugin.id},
                       {"version", plugin.version},
                       {"sha256", plugin.sha256.empty() ? Json() : Json(plugin.sha256)}});
  }
  return {{"weights",
           {{"name", identity.weights_name},
            {"bytes", identity.weights_bytes},
            {"sha256", identity.weights_sha256}}},
          {"tokenizer_sha256", identity.tokenizer_sha256},
          {"template_sha256",
           identity.template_sha256.empty() ? Json() : Json(identity.template_sha256)},
          {"numerics", identity.numerics},
          {"activations", identity.activations},
          {"kv", identity.kv},
          {"plugins", std::move(plugins)},
          {"config", identity.config.empty() ? Json() : Json::parse(identity.config)}};
}

// A float that is written as a double comes back with the same bits.
Json to_json(const std::vector<TopLogit>& top) {
  Json list = Json::array();
  for (const TopLogit& one : top)
    list.push_back({{"id", one.id}, {"logit", static_cast<double>(one.logit)}});
  return list;
}

Json to_json(const GoldenPrompt& prompt) {
  Json json{{"name", prompt.name}};
  if (first_ill_formed_utf8(prompt.text) == std::string::npos)
    json["text"] = prompt.text;
  else
    json["bytes_hex"] = to_hex(prompt.text);
  json["ids"] = prompt.ids;
  json["logits"] = {{"file", prompt.logits_file}, {"sha256", prompt.logits_sha256}};
  json["top"] = to_json(prompt.top);
  json["greedy"] = {
      {"ids", prompt.greedy.ids}, {"gaps", prompt.greedy.gaps}, {"sigmas", prompt.greedy.sigmas}};
  return json;
}

Json to_json(const Requantised& made) {
  Json tensors = Json::array();
  for (const RequantisedTensors& one : made.tensors) {
    tensors.push_back({{"kind", one.kind},
                       {"n_tensors", one.n_tensors},
                       {"from", one.from},
                       {"to", one.to},
                       {"sha256", one.sha256}});
  }
  Json prompts = Json::array();
  for (const RequantisedPrompt& one : made.prompts) {
    prompts.push_back({{"name", one.name},
                       {"top", to_json(one.top)},
                       {"cosine", one.cosine},
                       {"mean_absolute", one.mean_absolute}});
  }
  return {{"to", made.to},
          {"made_by", to_json(made.made_by)},
          {"tensors", std::move(tensors)},
          {"prompts", std::move(prompts)}};
}

}  // namespace

Result<Bundle> parse_bundle(std::string_view text, const std::string& where) {
  PLUMB_ASSIGN(const nlohmann::json json, parse_untrusted(text, where));
  std::optional<Error> mistake;
  const JsonNode root(json, where, mistake);
  if (root["bundle"].count() != 1) root["bundle"].refuse("1, the version that this program reads");
  Bundle bundle{read_made_by(root["made_by"]), "", read_identity(root["identity"]), {}, {}};
  if (!root["ids_made_by"].is_null()) bundle.ids_made_by = root["ids_made_by"].text();
  std::set<std::string> names;
  for (const JsonNode& prompt : root["prompts"].items(kPromptsMax)) {
    bundle.prompts.push_back(read_prompt(prompt));
    if (!names.insert(bundle.prompts.back().name).second)
      prompt["name"].refuse("a name that no other prompt has");
  }
  for (const JsonNode& made : root["requantised"].items(kListMax))
    bundle.requantised.push_back(read_requantised(made, names));
  if (mistake) return *std::move(mistake);
  return bundle;
}

std::string bundle_json(const Bundle& bundle) {
  Json prompts = Json::array(), requantised = Json::array();
  for (const GoldenPrompt& prompt : bundle.prompts) prompts.push_back(to_json(prompt));
  for (const Requantised& made : bundle.requantised) requantised.push_back(to_json(made));
  const Json json{{"bundle", 1},
                  {"made_by", to_json(bundle.made_by)},
                  {"ids_made_by", bundle.ids_made_by.empty() ? Json() : Json(bundle.ids_made_by)},
                  {"identity", to_json(bundle.identity)},
                  {"prompts", std::move(prompts)},
                  {"requantised", std::move(requantised)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace plumbline::golden
