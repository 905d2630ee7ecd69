#include "raw_prompt.h"

#include <nlohmann/json.hpp>
#include <set>

namespace plumbline::templates::raw {
namespace {

using Json = nlohmann::json;
using Pointers = std::set<std::string, std::less<>>;

Error bad_option(const std::string& what) {
  return {PLUMB_INVALID_CONFIG, "template options: " + what};
}

Error bad_context(const std::string& what) {
  return {PLUMB_INVALID_ARGUMENT, what};
}

/// Fills `to` if `object` has the key.
Result<void> read_text(const Json& object, const char* key, const std::string& where,
                       std::string& to) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  if (!found->is_string())
    return bad_option(where + key + ": " + found->type_name() + " seen, a string expected");
  to = found->get<std::string>();
  return {};
}

Result<Frame> read_frame(const Json& json, const std::string& where) {
  if (!json.is_object())
    return bad_option(where + ": " + json.type_name() + " seen, an object expected");
  for (const auto& [key, value] : json.items()) {
    if (key != "prefix" && key != "suffix")
      return bad_option(where + ": unknown key '" + key + "' seen, 'prefix' or 'suffix' expected");
  }
  Frame frame;
  PLUMB_TRY(read_text(json, "prefix", where + ".", frame.prefix));
  PLUMB_TRY(read_text(json, "suffix", where + ".", frame.suffix));
  return frame;
}

/// A prompt under construction.
class Writer {
 public:
  Writer(const Options& options, const Pointers& untrusted)
      : options_(options), untrusted_(untrusted) {}

  Result<void> message(const Json& message, const std::string& pointer) {
    const auto role = message.is_object() ? message.find("role") : message.end();
    if (!message.is_object() || role == message.end() || !role->is_string())
      return bad_context(pointer + ": an object with a role expected");
    const auto frame = options_.roles.find(role->get_ref<const std::string&>());
    separate();
    if (frame != options_.roles.end()) prompt_.text += frame->second.prefix;
    if (message.contains("content")) PLUMB_TRY(content(message["content"], pointer + "/content"));
    if (frame != options_.roles.end()) prompt_.text += frame->second.suffix;
    return {};
  }

  void begin_answer() {
    separate();
    const auto frame = options_.roles.find("assistant");
    if (frame != options_.roles.end()) prompt_.text += frame->second.prefix;
  }

  Prompt take() { return std::move(prompt_); }

 private:
  void separate() {
    if (!is_first_) prompt_.text += options_.separator;
    is_first_ = false;
  }

  Result<void> content(const Json& content, const std::string& pointer) {
    if (content.is_null()) return {};
    if (content.is_string()) {
      text(content, pointer);
      return {};
    }
    if (!content.is_array())
      return bad_context(pointer + ": " + content.type_name() +
                         " seen, a text or a list of parts expected");
    for (std::size_t i = 0; i < content.size(); ++i) {
      const std::string part_pointer = pointer + "/" + std::to_string(i);
      const Json& part = content[i];
      if (!part.is_object() || part.value("type", Json()) != "text" ||
          !part.value("text", Json()).is_string())
        return bad_context(part_pointer + ": a part of type text with a text expected");
      text(part["text"], part_pointer + "/text");
    }
    return {};
  }

  void text(const Json& content, const std::string& pointer) {
    const auto& added = content.get_ref<const std::string&>();
    const uint64_t begin = prompt_.text.size();
    prompt_.text += added;
    if (added.empty() || !is_untrusted(pointer)) return;
    if (!prompt_.untrusted.empty() && prompt_.untrusted.back().end == begin) {
      prompt_.untrusted.back().end = prompt_.text.size();
    } else {
      prompt_.untrusted.push_back({begin, prompt_.text.size()});
    }
  }

  /// Is the value there, or one that holds it, a stranger's?
  bool is_untrusted(std::string_view pointer) const {
    for (std::size_t end = 0; end != std::string_view::npos; end = pointer.find('/', end + 1)) {
      if (untrusted_.contains(pointer.substr(0, end))) return true;
    }
    return untrusted_.contains(pointer);
  }

  const Options& options_;
  const Pointers& untrusted_;
  Prompt prompt_;
  bool is_first_ = true;
};

Result<Pointers> read_pointers(const Json& context, std::string_view json) {
  Pointers out;
  if (json.empty()) return out;
  const Json pointers = Json::parse(json, nullptr, false);
  if (!pointers.is_array()) return bad_context("untrusted: an array of JSON pointers expected");
  for (const Json& pointer : pointers) {
    bool leads_somewhere = false;
    try {
      leads_somewhere =
          pointer.is_string() && context.contains(Json::json_pointer(pointer.get<std::string>()));
    } catch (const Json::exception&) {  // no JSON pointer
    }
    if (!leads_somewhere) {
      const std::string seen =
          pointer.is_string() ? pointer.get<std::string>() : pointer.type_name();
      return bad_context("untrusted: '" + seen +
                         "' seen, a JSON pointer to a value of the context expected");
    }
    out.insert(pointer.get<std::string>());
  }
  return out;
}

}  // namespace

Result<Options> read_options(std::string_view json) {
  Options options;
  if (json.empty()) return options;
  const Json read = Json::parse(json, nullptr, false);
  if (!read.is_object()) return bad_option("a JSON object expected");
  for (const auto& [key, value] : read.items()) {
    if (key != "separator" && key != "roles" && key != "undefined")
      return bad_option("unknown key '" + key +
                        "' seen, 'separator', 'roles' or 'undefined' expected");
  }
  PLUMB_TRY(read_text(read, "separator", "", options.separator));
  const Json roles = read.value("roles", Json::object());
  if (!roles.is_object())
    return bad_option(std::string("roles: ") + roles.type_name() + " seen, an object expected");
  for (const auto& [role, json_frame] : roles.items()) {
    PLUMB_ASSIGN(auto frame, read_frame(json_frame, "roles." + role));
    options.roles.emplace(role, std::move(frame));
  }
  return options;
}

Result<Prompt> render(const Options& options, std::string_view context_json,
                      std::string_view untrusted_json) {
  const Json context = Json::parse(context_json, nullptr, false);
  if (!context.is_object() || !context.contains("messages") || !context["messages"].is_array())
    return bad_context("context: a JSON object with an array 'messages' expected");
  PLUMB_ASSIGN(const auto pointers, read_pointers(context, untrusted_json));
  Writer writer(options, pointers);
  const Json& messages = context["messages"];
  for (std::size_t i = 0; i < messages.size(); ++i) {
    PLUMB_TRY(writer.message(messages[i], "/messages/" + std::to_string(i)));
  }
  if (context.value("add_generation_prompt", Json()) == true) writer.begin_answer();
  return writer.take();
}

}  // namespace plumbline::templates::raw
