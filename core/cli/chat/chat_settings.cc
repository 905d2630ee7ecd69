#include "core/cli/chat/chat_settings.h"

#include <algorithm>
#include <utility>

#include "core/base/printable.h"

namespace plumbline::cli {
namespace {

using config::Value;

// Roots of keys that an answer asks for anew.
constexpr std::string_view kChangeable[] = {"sampling", "generation"};
constexpr std::string_view kStages = "sampling.stages.";
constexpr std::string_view kTune = "sampling.tune.";

bool is_changeable(std::string_view root) {
  return std::find(std::begin(kChangeable), std::end(kChangeable), root) != std::end(kChangeable);
}

bool same(const Value& a, const Value& b) {
  if (a.kind != b.kind || a.text != b.text || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size()) {
    return false;
  }
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!same(a.items[i], b.items[i])) return false;
  }
  for (size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].key != b.entries[i].key || !same(a.entries[i].value, b.entries[i].value))
      return false;
  }
  return true;
}

/// An item of a list, as --set reads it back, in one line.
std::string shown_item(const Value& item) {
  const bool is_plain = !item.is_quoted && !item.text.empty() &&
                        item.text.find_first_of(" ,:[]{}\"'\\#&*!|>%@`") == std::string::npos &&
                        plumbline::printable(item.text) == item.text;
  if (is_plain) return item.text;
  using Json = pipeline::OrderedJson;
  return Json(item.text).dump(-1, ' ', true, Json::error_handler_t::replace);
}

/// The stages of a list, whose parameters are keys of their own.
std::string names_of(const Value& stages) {
  std::string names;
  for (const Value& stage : stages.items) {
    names += (names.empty() ? "" : ", ") +
             (stage.entries.empty() ? stage.text : stage.entries.front().key);
  }
  return plumbline::printable(names);
}

struct Leaf {
  std::string key;
  std::string value;
};

/// Every key below a value, in order. Configs are not nested deeper than their specification.
void leaves(const Value& value, const std::string& key, std::vector<Leaf>& found) {
  for (const config::Entry& entry : value.entries)
    leaves(entry.value, key + "." + entry.key, found);
  const bool is_stages = key + "." == kStages;
  if (is_stages) found.push_back({key, "[" + names_of(value) + "]"});
  for (size_t i = 0; is_stages && i < value.items.size(); ++i) {
    // A stage's own name is a key: the index is not needed.
    if (value.items[i].kind == Value::Kind::kMap) leaves(value.items[i], "", found);
  }
  if (value.kind == Value::Kind::kScalar) found.push_back({key, plumbline::printable(value.text)});
  if (value.kind == Value::Kind::kList && !is_stages) {
    std::string all;
    for (const Value& item : value.items) all += (all.empty() ? "" : ", ") + shown_item(item);
    found.push_back({key, "[" + all + "]"});
  }
}

std::vector<Leaf> changeable_leaves(const Value& tree) {
  std::vector<Leaf> found;
  for (const std::string_view root : kChangeable) {
    if (const Value* value = tree.find(root)) leaves(*value, std::string(root), found);
  }
  for (Leaf& leaf : found) {
    if (leaf.key.starts_with('.')) leaf.key.erase(0, 1);
  }
  return found;
}

/// "temperature.t" -> the key of that stage's parameter, where there is such a stage.
std::string full_key(const config::SamplingConfig& sampling, const std::string& key) {
  const std::string stage = key.substr(0, key.find('.'));
  for (size_t i = 0; i < sampling.stages.size(); ++i) {
    if (sampling.stages[i].stage != stage) continue;
    return sampling.profile.empty() ? std::string(kStages) + std::to_string(i) + "." + key
                                    : std::string(kTune) + key;
  }
  return key;
}

/// With an answer's most tokens of a conversation where the config leaves it open.
config::ResolvedConfig for_chat(config::ResolvedConfig resolved) {
  constexpr std::string_view kKey = "generation.max_tokens";
  if (resolved.origin(kKey) != "default") return resolved;
  resolved.config.generation.max_tokens = ChatSettings::kMaxTokens;
  if (Value* shown = resolved.tree.at(kKey)) shown->text = std::to_string(ChatSettings::kMaxTokens);
  return resolved;
}

}  // namespace

ChatSettings::ChatSettings(Session& session)
    : session_(session), now_(for_chat(session.config())) {}

Result<void> ChatSettings::set(std::string_view assignment, conversation::Conversation& talk) {
  const size_t end = assignment.find('=');
  if (end == assignment.npos || end == 0) {
    return Error{PLUMB_INVALID_ARGUMENT, "/set " + std::string(assignment) +
                                             ": expected KEY=VALUE, for example "
                                             "sampling.profile=precise; /set alone shows the keys"};
  }
  const std::string key = full_key(now_.config.sampling, std::string(assignment.substr(0, end)));
  std::vector<std::string> overrides = overrides_;
  std::vector<std::string> dropped = dropped_;
  // Other stages, other parameters: what was said of the old ones is over, whoever said it.
  if (key == "sampling.profile" || key == "sampling.stages") {
    dropped = {"sampling.tune", "sampling.stages", "sampling.profile"};
    std::erase_if(overrides, [](const std::string& one) {
      return one.starts_with(kTune) || one.starts_with(kStages) ||
             one.starts_with("sampling.stages=") || one.starts_with("sampling.profile=");
    });
  }
  overrides.push_back(key + std::string(assignment.substr(end)));
  PLUMB_ASSIGN(config::ResolvedConfig next, session_.config_with(overrides, dropped));
  next = for_chat(std::move(next));
  for (const config::Entry& entry : next.tree.entries) {
    const Value* before = now_.tree.find(entry.key);
    if (!is_changeable(entry.key) && (before == nullptr || !same(*before, entry.value))) {
      return Error{PLUMB_INVALID_ARGUMENT,
                   key +
                       ": the model would have to be loaded anew, expected a key of sampling or "
                       "generation; leave, and start with --set " +
                       std::string(assignment)};
    }
  }
  PLUMB_TRY(session_.pipeline().replace_generation(next.config.generation));
  // Else the stages stay, and a restored conversation's seed.
  if (key.starts_with("sampling")) PLUMB_TRY(talk.set_sampling(next.config.sampling));
  now_ = std::move(next);
  overrides_ = std::move(overrides);
  dropped_ = std::move(dropped);
  return {};
}

conversation::Request ChatSettings::request() const {
  // The seed is the conversation's own: a restored one goes on with its file's.
  conversation::Request request;
  request.max_tokens = now_.config.generation.max_tokens;
  return request;
}

std::string ChatSettings::shown() const {
  std::vector<Leaf> found = changeable_leaves(now_.tree);
  const std::string& profile = now_.config.sampling.profile;
  if (!profile.empty()) found.insert(found.begin(), {"sampling.profile", profile});
  size_t width = 0;
  for (const Leaf& leaf : found) width = std::max(width, leaf.key.size());
  std::string text;
  for (const Leaf& leaf : found) text += padded(leaf.key, width) + "  " + leaf.value + "\n";
  return text;
}

std::vector<std::string> ChatSettings::keys() const {
  std::vector<std::string> keys = {"sampling.profile"};
  for (Leaf& leaf : changeable_leaves(now_.tree)) keys.push_back(std::move(leaf.key));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace plumbline::cli
