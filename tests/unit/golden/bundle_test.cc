// Bundles that nobody vouches for. Oracle: core/doc/golden_bundles.md: every mistake is named with
// its place, and nothing outside the folder is read.
#include "core/golden/bundle.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/npy.h"
#include "core/base/os/fresh_folder.h"
#include "core/golden/bundle_folder.h"
#include "core/hash/sha256.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::golden {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr float kThird = 1.0f / 3.0f;

Bundle small_bundle() {
  Bundle bundle;
  bundle.made_by = {"an engine", "1.2", {{"torch", "2"}}, "smollm2"};
  bundle.identity.weights_name = "model.gguf";
  bundle.identity.weights_bytes = 12;
  bundle.identity.weights_sha256 = bundle.identity.tokenizer_sha256 = std::string(64, 'a');
  bundle.identity.numerics = "canonical-1";
  bundle.identity.plugins = {{"kernels", "plumb.reference", "0.1", std::string(64, 'b')}};
  bundle.identity.config = R"({"mode":"lab"})";
  bundle.prompts = {{.name = "one", .text = "text", .ids = {1, 2}, .top = {{2, kThird}, {0, -1}}},
                    {.name = "bytes", .text = "\xff\x01", .ids = {3}}};
  bundle.prompts[0].greedy = {{2, 0}, {1.25, 0.5}, {2, 3}};
  Requantised made{"Q8_0", {"gguf-py", "0.19"}, {}, {}};
  made.tensors = {{"attn_q.weight", 3, {"Q4_1"}, "Q8_0", std::string(64, 'c')}};
  made.prompts = {{"one", {{2, 0.5f}}, 0.999, 0.25}};
  bundle.requantised = {made};
  return bundle;
}

const std::vector<std::vector<float>> kRows = {{0, 1, kThird}, {4, 5, 6}};

class BundleFolder : public testing::Test {
 protected:
  BundleFolder() { EXPECT_TRUE(write_bundle(path(), small_bundle(), kRows)); }

  std::string path(const std::string& name = "") const {
    return folder_.path("made" + (name.empty() ? "" : "/" + name));
  }
  json content() const { return json::parse(folder_.read("made/bundle.json")); }
  void set(const json& content) const { folder_.write("made/bundle.json", content.dump()); }
  /// The error of reading the folder with one value changed.
  std::string error_with(const std::string& pointer, const json& value) const {
    json changed = content();
    changed[json::json_pointer(pointer)] = value;
    set(changed);
    const auto read = read_bundle(path());
    EXPECT_FALSE(read) << pointer << " = " << value;
    if (read) return "";
    EXPECT_EQ(read.error().code, PLUMB_CORRUPT);
    return read.error().message;
  }
  /// The error of reading the first prompt's logits.
  Error logits_error() const {
    const auto bundle = read_bundle(path());
    EXPECT_TRUE(bundle) << (bundle ? "" : bundle.error().message);
    const auto row = read_logits(path(), bundle->prompts[0]);
    EXPECT_FALSE(row);
    return row ? Error{} : row.error();
  }
  void replace_logits(std::string_view bytes) const {
    json changed = content();
    const std::string name = changed["prompts"][0]["logits"]["file"];
    std::filesystem::remove(path(name));
    folder_.write("made/" + name, bytes);
    changed["prompts"][0]["logits"]["sha256"] = sha256_of(bytes);
    set(changed);
  }

  test::TemporaryFolder folder_;
};

TEST_F(BundleFolder, ComesBackAsItWasWritten) {
  const auto bundle = read_bundle(path());
  ASSERT_TRUE(bundle) << bundle.error().message;
  Bundle expected = small_bundle();
  for (size_t i = 0; i < expected.prompts.size(); ++i) {
    expected.prompts[i].logits_file = bundle->prompts[i].logits_file;
    expected.prompts[i].logits_sha256 = bundle->prompts[i].logits_sha256;
    const auto row = read_logits(path(), bundle->prompts[i]);
    ASSERT_TRUE(row) << row.error().message;
    EXPECT_EQ(*row, kRows[i]);
  }
  EXPECT_EQ(bundle_json(*bundle), bundle_json(expected));
  EXPECT_EQ(bundle->prompts[0].top[0].logit, kThird);  // exactly
  EXPECT_EQ(bundle->prompts[1].text, "\xff\x01");
}

TEST_F(BundleFolder, AppearsWholeOrNotAtAll) {
  EXPECT_THAT(folder_.files(), ElementsAre("made"));
  const auto again = write_bundle(path(), small_bundle(), kRows);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("is there already"));
  const auto nowhere = write_bundle(folder_.path("none/made"), small_bundle(), kRows);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, PLUMB_NOT_FOUND);
  EXPECT_THAT(folder_.files(), ElementsAre("made"));
  // Of two processes that write the same one, the first to finish has the place.
  auto other = os::FreshFolder::create(folder_.path("next"));
  ASSERT_TRUE(other);
  EXPECT_TRUE(write_bundle(folder_.path("next"), small_bundle(), kRows));
  EXPECT_FALSE(std::move(*other).publish());
}

TEST_F(BundleFolder, EveryMistakeIsNamedWithItsPlace) {
  struct Case {
    const char* pointer;
    json value;
    const char* place;
    const char* expected;
  };
  const json many = json::array({1, 2, 3});
  const Case cases[] = {
      {"/bundle", 2, ".bundle: found 2", "1, the version"},
      {"/made_by/engine", 7, ".made_by.engine", "a text"},
      {"/identity", json::array(), ".identity", "an object"},
      {"/identity/weights/sha256", "abc", ".identity.weights.sha256", "64 lower-case"},
      {"/identity/weights/bytes", -1, ".identity.weights.bytes: found -1", "0 or more"},
      {"/identity/tokenizer_sha256", nullptr, ".identity.tokenizer_sha256: found nothing", "64"},
      {"/prompts", "x", ".prompts: found \"x\"", "a list"},
      {"/prompts/0/ids", json::array(), ".prompts[0].ids", "one id at least"},
      {"/prompts/0/ids/1", -5, ".prompts[0].ids[1]: found -5", "a token id"},
      {"/prompts/0/ids/1", 4294967296, ".prompts[0].ids[1]: found 4294967296", "a token id"},
      {"/prompts/0/ids/0", 0.5, ".prompts[0].ids[0]", "a token id"},
      {"/prompts/1/name", "one", ".prompts[1].name", "no other prompt"},
      {"/prompts/0/logits/file", "../x.npy", ".logits.file", "a file in the bundle's folder"},
      {"/prompts/0/logits/file", "/etc/passwd", ".logits.file", "a file in the bundle's folder"},
      {"/prompts/0/logits/file", "..", ".logits.file", "a file in the bundle's folder"},
      {"/prompts/0/greedy/gaps/0", -1e9, ".greedy.gaps[0]", "from 0 on"},
      {"/prompts/0/greedy/sigmas/1", -1, ".greedy.sigmas[1]", "above 0"},
      {"/prompts/0/greedy/sigmas/1", 0, ".greedy.sigmas[1]", "above 0"},
      {"/ids_made_by", 1, ".ids_made_by", "a text"},
      {"/prompts/0/greedy/gaps", many, ".prompts[0].greedy", "as many gaps"},
      {"/prompts/1/bytes_hex", "f", ".prompts[1].bytes_hex", "pairs of lower-case"},
      {"/requantised/0/prompts/0/name", "two", ".requantised[0].prompts[0].name", "a prompt of"},
      {"/requantised/0/tensors/0/n_tensors", "3", ".tensors[0].n_tensors", "a whole number"},
  };
  const json untouched = content();
  for (const Case& one : cases) {
    const std::string message = error_with(one.pointer, one.value);
    EXPECT_THAT(message, HasSubstr(one.place));
    EXPECT_THAT(message, HasSubstr(one.expected)) << one.pointer;
    set(untouched);
  }
}

TEST_F(BundleFolder, WhatIsNoJsonIsRefused) {
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  for (const std::string& text : {std::string(), std::string("{"), std::string("[]"), deep,
                                  std::string(R"({"bundle": 1e999})"), std::string("\xff")}) {
    folder_.write("made/bundle.json", text);
    const auto read = read_bundle(path());
    ASSERT_FALSE(read) << text.substr(0, 20);
    EXPECT_EQ(read.error().code, PLUMB_CORRUPT);
  }
}

TEST_F(BundleFolder, ABrokenRowOfLogitsIsRefused) {
  const std::string whole = npy_bytes(std::vector<uint64_t>{3}, kRows[0]);
  struct Case {
    std::string bytes;
    const char* expected;
  };
  std::string huge = whole;
  huge.replace(huge.find("(3,)"), 4, "(9999999999999999999,)");
  const Case cases[] = {
      {whole.substr(0, whole.size() - 1), "fewer values"},
      {huge, "npy"},
      {whole.substr(0, 20), "npy"},
      {"", "npy"},
      {npy_bytes(std::vector<uint64_t>{1, 3}, kRows[0]), "2 dimensions"},
      {npy_bytes(std::vector<uint64_t>{0}, {}), "expected f32[V]"},
      {npy_bytes(std::vector<uint64_t>{1}, std::vector<float>{std::nanf("")}), "finite"},
      {npy_bytes(std::vector<uint64_t>{1},
                 std::vector<float>{std::numeric_limits<float>::infinity()}),
       "finite"},
  };
  for (const Case& one : cases) {
    replace_logits(one.bytes);
    const Error error = logits_error();
    EXPECT_EQ(error.code, PLUMB_CORRUPT);
    EXPECT_THAT(error.message, HasSubstr(one.expected));
  }
}

TEST_F(BundleFolder, OtherBytesThanWereRecordedAreRefused) {
  const std::string name = content()["prompts"][0]["logits"]["file"];
  folder_.write("made/" + name, npy_bytes(std::vector<uint64_t>{3}, std::vector<float>{0, 1, 2}));
  EXPECT_THAT(logits_error().message, HasSubstr("found sha256"));
}

TEST_F(BundleFolder, LinksAndMissingFilesAreRefused) {
  const std::string name = content()["prompts"][0]["logits"]["file"];
  std::filesystem::rename(path(name), folder_.path("outside.npy"));
  EXPECT_EQ(logits_error().code, PLUMB_NOT_FOUND);
  std::filesystem::create_symlink(folder_.path("outside.npy"), path(name));
  const Error error = logits_error();
  EXPECT_EQ(error.code, PLUMB_CORRUPT);
  EXPECT_THAT(error.message, HasSubstr("found a link"));
  std::filesystem::remove(path(name));
  std::filesystem::create_directory(path(name));
  EXPECT_EQ(logits_error().code, PLUMB_CORRUPT);
  std::filesystem::remove(path("bundle.json"));
  const auto gone = read_bundle(path());
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, PLUMB_NOT_FOUND);
}

// ---- the published schema

/// Whether a value fits a schema, of the few words that ours is written in.
std::string misfit(const json& schema, const json& value, const std::string& where) {
  static const json root = json::parse([] {
    std::ifstream file(PLUMB_SOURCE_DIR "/configs/schema/golden_bundle.schema.json");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }());
  if (schema.contains("$ref"))
    return misfit(root[json::json_pointer(schema["$ref"].get<std::string>().substr(1))], value,
                  where);
  if (schema.empty()) return misfit(root, value, where);
  static const std::map<std::string, std::function<bool(const json&)>> kTypes = {
      {"object", [](const json& one) { return one.is_object(); }},
      {"array", [](const json& one) { return one.is_array(); }},
      {"string", [](const json& one) { return one.is_string(); }},
      {"number", [](const json& one) { return one.is_number(); }},
      {"integer", [](const json& one) { return one.is_number_integer(); }},
      {"null", [](const json& one) { return one.is_null(); }}};
  const json types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
  bool fits = false;
  for (const json& type : types) fits |= kTypes.at(type)(value);
  if (!fits) return where + ": another type";
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      if (std::string bad = misfit(schema["items"], value[i], where + "[]"); !bad.empty())
        return bad;
    }
  }
  if (!value.is_object() || !schema.contains("properties")) return "";
  for (const json& key : schema["required"])
    if (!value.contains(key.get<std::string>()))
      return where + ": without " + key.get<std::string>();
  for (const auto& [key, member] : value.items()) {
    if (!schema["properties"].contains(key)) return where + ": unknown " + key;
    if (std::string bad = misfit(schema["properties"][key], member, where + "." + key);
        !bad.empty())
      return bad;
  }
  return "";
}

TEST_F(BundleFolder, FitsThePublishedSchema) {
  EXPECT_THAT(misfit(json::object(), content(), ""), IsEmpty());
  for (const char* name : {"smollm2-135m", "gemma3-270m", "qwen2.5-coder-0.5b"}) {
    std::ifstream file(std::string(PLUMB_SOURCE_DIR "/golden/models/") + name + "/bundle.json");
    const json shipped = json::parse(file);
    EXPECT_THAT(misfit(json::object(), shipped, name), IsEmpty());
    const auto parsed = parse_bundle(shipped.dump(), name);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->prompts.at(0).greedy.ids.size(), 100u);
    EXPECT_EQ(parsed->requantised.size(), 2u);
  }
}

}  // namespace
}  // namespace plumbline::golden
