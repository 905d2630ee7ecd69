#include "core/diff/reduce.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/base/os/durable.h"
#include "core/base/os/fresh_folder.h"
#include "core/base/os/paths.h"
#include "core/config/pipeline_config.h"
#include "core/config/show.h"
#include "core/hash/sha256.h"

namespace plumbline::diff {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using config::Value;

// Templates and tokenizers; what is larger is named where it lies.
constexpr uint64_t kCopiedBytesMax = uint64_t{64} << 20;

Error failed(const std::string& path, const std::error_code& why) {
  return {PLUMB_NOT_FOUND, path + ": " + why.message()};
}

std::string absolute(const std::string& path) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(path, ignored);
  return whole.empty() ? path : whole.lexically_normal().string();
}

void set_text(Value& map, const std::string& key, const std::string& text) {
  if (Value* const there = map.find(key)) {
    there->text = text;
    return;
  }
  map.entries.push_back({key, map.origin, Value::make(Value::Kind::kScalar, map.origin, text)});
}

/// The files beside a case's configs: each once, however many name it.
class CaseFiles {
 public:
  explicit CaseFiles(const std::string& folder) : folder_(folder) {}

  struct File {
    std::string name, sha256;
  };
  /// Copies it, unless there is one of its bytes. side: to tell it from another of its name.
  Result<File> add(const std::string& from, const std::string& part, const std::string& side) {
    PLUMB_ASSIGN(const std::string sha256, sha256_of_file(from));
    std::string name = part + "-" + fs::path(from).filename().string();
    for (const File& file : files_) {
      if (file.sha256 == sha256) return file;
      if (file.name == name) name = side + "-" + name;
    }
    std::error_code error;
    fs::copy_file(from, fs::path(folder_) / name, error);
    if (error) return failed(from, error);
    files_.push_back({name, sha256});
    return files_.back();
  }

 private:
  std::string folder_;
  std::vector<File> files_;
};

/// A config that means the same from inside the folder. side: "a" or "b".
Result<std::string> portable_config(const config::ResolvedConfig& resolved, const std::string& side,
                                    CaseFiles& files) {
  config::ResolvedConfig portable = resolved;
  Value& source = *portable.tree.at("model.source");
  if (const Value* const path = source.find("path")) {
    set_text(source, "path", absolute(path->text));
    std::error_code ignored;
    if (source.find("sha256") == nullptr && fs::is_regular_file(path->text, ignored)) {
      PLUMB_ASSIGN(const std::string sha256, sha256_of_file(path->text));
      set_text(source, "sha256", sha256);
    }
  }
  for (const char* part : {"template", "tokenizer"}) {
    Value& map = *portable.tree.at(part);
    const Value* const path = map.find("path");
    if (path == nullptr) continue;
    const std::string from = path->text;
    std::error_code ignored;
    if (fs::is_regular_file(from, ignored) && fs::file_size(from, ignored) <= kCopiedBytesMax) {
      PLUMB_ASSIGN(const CaseFiles::File file, files.add(from, part, side));
      set_text(map, "path", file.name);
      set_text(map, "sha256", file.sha256);
    } else {
      set_text(map, "path", absolute(from));
    }
  }
  for (Value& path : portable.tree.at("plugins.paths")->items) path.text = absolute(path.text);
  if (Value& map = *portable.tree.at("runner.map"); map.text != config::kAuto)
    map.text = absolute(map.text);
  // A word without a slash is a name.
  for (const char* key : {"runner.name", "runner.python"}) {
    Value& program = *portable.tree.at(key);
    if (program.text.find('/') != std::string::npos) program.text = absolute(program.text);
  }
  return config::show_yaml(portable);
}

/// Noise levels had a say in the verdict: a difference in the prompt is one at any level, and where
/// equal bits are demanded there is none to know.
bool needs_noise(const PromptReport& shown) {
  if (shown.place && shown.place->door < Door::kOps) return false;
  const auto is_level = [](const std::optional<double>& level) { return level != 0.0; };
  return std::ranges::any_of(shown.ops, is_level, &OpErrors::budget) ||
         std::ranges::any_of(shown.logits, is_level, &LogitErrors::noise);
}

// noise_json: the levels that lie beside it, or empty.
Json expected_json(const BisectReport& report, uint64_t seed, const std::string& noise_json) {
  const Symptom& symptom = report.symptom;
  const Place place = report.shown && report.shown->place ? *report.shown->place : Place{};
  return {{"verdict", verdict_name(symptom.verdict)},
          {"door", symptom.door ? Json(door_name(*symptom.door)) : Json()},
          {"op", place.op},
          {"tokens", report.n_steps},
          {"seed", seed},
          {"at", place.at},
          {"seen_a", place.seen_a},
          {"seen_b", place.seen_b},
          {"noise_sha256", noise_json.empty() ? Json() : Json(sha256_of(noise_json))}};
}

std::string readme(const BisectReport& report, const CaseRequest& request) {
  std::string text =
      "# " + report.symptom.text() +
      "\n\n`./reproduce` compares `a.yaml` with `b.yaml` on `prompt.jsonl` and exits "
      "with 0 if they still differ as\n`expected.json` says, else with 1. It runs "
      "the program that PLUMB names,\nelse `plumb`, else the one that wrote this.\n\n";
  if (report.shown && report.shown->place) {
    if (report.symptom.op.empty() && !report.shown->place->op.empty())
      text += "- op: `" + report.shown->place->op + "`\n";
    text += "- A: " + report.shown->place->seen_a + "\n- B: " + report.shown->place->seen_b + "\n";
  }
  text += "\nB is A but for " + std::to_string(report.culprits.items.size()) + " of the " +
          std::to_string(report.choices.size()) + " choices in which the two configs differed:\n\n";
  for (const uint32_t item : report.culprits.items) {
    const Choice& choice = report.choices[item];
    const auto value = [](const std::string& shown) { return shown.empty() ? "nothing" : shown; };
    text +=
        "- `" + choice.path + "`: `" + value(choice.a) + "` in A, `" + value(choice.b) + "` in B\n";
  }
  if (!report.culprits.is_minimal) text += "\nThe search was cut short: fewer of these may do.\n";
  return text + "\nMade by " + request.made_by + ".\n";
}

constexpr const char* kScriptName = "reproduce";
/// program: that runs where there is no plumb in PATH.
std::string script(const std::string& program) {
  std::string quoted = "'";
  for (const char c : program) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  quoted += "'";
  return "#!/bin/sh\n"
         "# Exit code 0: the difference is still there.\n"
         "if [ -z \"${PLUMB:-}\" ]; then\n"
         "  PLUMB=plumb\n"
         "  command -v plumb > /dev/null || PLUMB=" +
         quoted +
         "\nfi\n"
         "exec \"$PLUMB\" reproduce \"$(dirname \"$0\")\" \"$@\"\n";
}

}  // namespace

Result<void> check_free(const std::string& folder) {
  if (folder.empty())
    return Error{PLUMB_INVALID_ARGUMENT, "\"\": expected the name of a new folder"};
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(folder, ignored)))
    return Error{PLUMB_INVALID_ARGUMENT, folder + ": is there already, expected a new folder"};
  const fs::path parent = fs::path(folder).parent_path();
  if (!parent.empty() && !fs::is_directory(parent, ignored))
    return Error{PLUMB_NOT_FOUND, parent.string() + ": no such folder"};
  return {};
}

Result<void> write_case(const BisectReport& report, Side& a, const CaseRequest& request) {
  PLUMB_ASSIGN(os::FreshFolder folder, os::FreshFolder::create(request.folder));
  const auto write = [&](const char* name, std::string_view bytes) {
    return os::write_file(folder.path() + "/" + name, bytes);
  };
  const auto readable = [](const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
  };
  CaseFiles files(folder.path());
  PLUMB_ASSIGN(const std::string config_a, portable_config(a.config(), "a", files));
  PLUMB_ASSIGN(const std::string config_b, portable_config(*report.mixture, "b", files));
  PLUMB_TRY(write(kConfigA, config_a));
  PLUMB_TRY(write(kConfigB, config_b));
  PLUMB_TRY(write(kPrompt, readable(to_json(report.prompt), -1)));
  const bool has_noise = report.shown && needs_noise(*report.shown);
  const std::string& noise_json = has_noise ? request.noise_json : std::string();
  PLUMB_TRY(write(kExpected, readable(expected_json(report, request.seed, noise_json), 1)));
  if (!noise_json.empty()) PLUMB_TRY(write(kNoise, noise_json));
  PLUMB_TRY(write("README.md", readme(report, request)));
  PLUMB_ASSIGN(const std::string program, os::executable_path());
  PLUMB_TRY(write(kScriptName, script(program)));
  std::error_code error;
  using fs::perms;
  fs::permissions(fs::path(folder.path()) / kScriptName,
                  perms::owner_exec | perms::group_exec | perms::others_exec, fs::perm_options::add,
                  error);
  if (error) return failed(kScriptName, error);
  return std::move(folder).publish();
}

Result<Expected> parse_expected(std::string_view text, const std::string& where) {
  const Json json = Json::parse(text, nullptr, false);
  const auto wrong = [&](const std::string& key, const char* expected) {
    return Error{PLUMB_CORRUPT, where + ": " + key + ": expected " + expected};
  };
  if (!json.is_object()) return Error{PLUMB_CORRUPT, where + ": expected a JSON object"};
  Expected found;
  std::optional<Error> error;
  const auto value_at = [&](const char* key, bool is_kind(const Json&), const char* expected) {
    const Json value = json.value(key, Json(Json::value_t::discarded));
    if (!is_kind(value) && !error) error = wrong(key, expected);
    return value;
  };
  const auto text_at = [&](const char* key) {
    const Json value = value_at(
        key, [](const Json& one) { return one.is_string(); }, "a text");
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  const auto text_or_null_at = [&](const char* key) {
    const Json value = value_at(
        key, [](const Json& one) { return one.is_string() || one.is_null(); }, "a text or null");
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  const auto number_at = [&](const char* key) {
    const Json value = value_at(
        key, [](const Json& one) { return one.is_number_unsigned(); }, "a whole number");
    return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
  };
  const std::string verdict = text_at("verdict"), door = text_or_null_at("door");
  found.op = text_at("op");
  const uint64_t n_steps = number_at("tokens");
  found.seed = number_at("seed");
  found.at = number_at("at");
  found.seen_a = text_at("seen_a");
  found.seen_b = text_at("seen_b");
  found.noise_sha256 = text_or_null_at("noise_sha256");
  if (error) return *error;
  bool is_known = false;
  for (const Verdict one : {Verdict::kMatch, Verdict::kDrift, Verdict::kTieFlip,
                            Verdict::kUnexplained, Verdict::kWrong}) {
    if (verdict != verdict_name(one)) continue;
    found.symptom.verdict = one;
    is_known = true;
  }
  if (!is_known) return wrong("verdict", "a verdict, such as WRONG");
  for (const Door one : {Door::kPrompt, Door::kTokens, Door::kOps, Door::kLogits, Door::kPick,
                         Door::kBytes, Door::kText}) {
    if (door == door_name(one)) found.symptom.door = one;
  }
  if (!door.empty() && !found.symptom.door) return wrong("door", "a door, such as \"20 ops\"");
  if (found.symptom.verdict == Verdict::kWrong) found.symptom.op = found.op;
  if (n_steps > UINT32_MAX) return wrong("tokens", "how many generated tokens are compared");
  found.n_steps = static_cast<uint32_t>(n_steps);
  return found;
}

}  // namespace plumbline::diff
