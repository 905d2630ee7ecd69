// The commands of a conversation that read and write files.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "core/base/os/durable.h"
#include "core/base/os/mapped_file.h"
#include "core/base/os/regular_file.h"
#include "core/cli/chat/chat.h"
#include "core/cli/slow_note.h"
#include "core/pipeline/message_checks.h"

namespace plumbline::cli {

using pipeline::OrderedJson;

namespace {

constexpr size_t kFileBytesMax = size_t{1} << 32;

/// Not read_all: stdin is where entries come from, and "-" a file's name like any other.
std::string contents(const std::string& name) {
  return value_or_stop(os::read_regular_file(name, kFileBytesMax), kModelFile);
}

/// Told by its first bytes: a saved conversation may be larger than one wants to read twice.
bool is_list(const std::string& name) {
  const os::MappedFile file = value_or_stop(os::MappedFile::open(name), kModelFile);
  const plumb_bytes bytes = file.bytes();
  std::string_view head(reinterpret_cast<const char*>(bytes.data),
                        std::min<uint64_t>(bytes.bytes, 4096));
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);  // some editors' byte order mark
  const size_t begin = head.find_first_not_of(" \t\r\n");
  return begin != head.npos && head[begin] == '[';
}

/// Lines that came through a pipe need not be well-formed UTF-8.
std::string json_text(const OrderedJson& all) {
  return all.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string mebibytes(uint64_t n_bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(n_bytes) / (1 << 20));
  return text;
}

std::string name_of(const OrderedJson& tool) {
  const OrderedJson& function = tool.contains("function") ? tool["function"] : tool;
  return function.is_object() ? function.value("name", OrderedJson("?")).dump() : "?";
}

}  // namespace

void Chat::save(std::string_view arguments) {
  constexpr std::string_view kRows = "--rows ";
  const bool with_rows = arguments.starts_with(kRows);
  if (with_rows) arguments.remove_prefix(kRows.size());
  const std::string name(arguments);
  if (name.empty() || name == "--rows")
    return fail({PLUMB_INVALID_ARGUMENT, "/save: expected a file's name"}, kUsage);
  const bool is_json = name.ends_with(".json");
  if (is_json && with_rows) {
    return fail(
        {PLUMB_INVALID_ARGUMENT, "/save --rows " + name +
                                     ": a .json file has the messages alone, expected another "
                                     "name"},
        kUsage);
  }
  std::error_code ignored;
  if (std::filesystem::is_fifo(name, ignored)) {
    return fail({PLUMB_INVALID_ARGUMENT,
                 "/save " + name + ": a pipe, whose reader may never come, expected a file"},
                kUsage);
  }
  const OrderedJson all = messages();
  std::string what = std::to_string(all.size()) + " messages written to " + name;
  if (is_json) {
    if (!succeeded(os::write_file(name, json_text(all)))) return;
  } else {
    const SlowNote slow("writing " + name);
    const Result<conversation::Saved> saved = talk_.save(name, with_rows);
    if (!succeeded(saved)) return;
    if (with_rows)
      what += ", with " + std::to_string(saved->n_rows) + " rows, " + mebibytes(saved->n_bytes);
  }
  view_.noted(what);
}

void Chat::load(std::string_view path) {
  if (path.empty()) return fail({PLUMB_INVALID_ARGUMENT, "/load: expected a file's name"}, kUsage);
  const std::string name(path);
  if (is_list(name)) return load_messages(name, parse_json(contents(name), name));
  const Result<conversation::Restored> restored = [&] {
    const SlowNote slow("reading " + name);
    return talk_.restore(name);
  }();
  if (!succeeded(restored)) return;
  std::string what = std::to_string(restored->n_messages) + " messages read from " + name;
  if (restored->n_rows > 0) what += ", with " + std::to_string(restored->n_rows) + " rows";
  if (!restored->has_same_sampling) what += "; it was saved with another sampling";
  view_.noted(what);
  note_calls();
}

void Chat::load_messages(const std::string& name, const OrderedJson& all) {
  if (auto checked = pipeline::check_conversation(all); !checked)
    return fail(std::move(checked).error().at(name), kModelFile);
  std::vector<OrderedJson> said(all.begin(), all.end());
  const std::string what = std::to_string(said.size()) + " messages read from " + name;
  if (said.empty() || said.back()["role"] != "user") {
    if (!succeeded(talk_.set_messages(std::move(said)))) return;
    view_.noted(what);
    return note_calls();
  }
  view_.noted(what);
  const bool is_answered = answer([&](const conversation::Request& request) {
    return talk_.ask_anew(std::move(said), request);
  });
  if (!is_answered) view_.noted("the conversation is the one before");
}

void Chat::tools(std::string_view path) {
  OrderedJson variables = value_or_stop(talk_.variables(), kModelFile);
  if (path.empty()) {
    const auto known = variables.find("tools");
    if (known == variables.end()) return view_.told("the model is told of no tools");
    std::string text;
    for (const OrderedJson& tool : *known) text += name_of(tool) + "\n";
    return view_.told(text);
  }
  if (path == "-") {
    variables.erase("tools");
    if (succeeded(talk_.set_variables(std::move(variables)))) view_.noted("no tools");
    return;
  }
  const std::string name(path);
  OrderedJson tools = parse_json(contents(name), name);
  const bool is_list_of_objects =
      tools.is_array() &&
      std::ranges::all_of(tools, [](const auto& one) { return one.is_object(); });
  if (!is_list_of_objects || tools.empty()) {
    return fail({PLUMB_INVALID_ARGUMENT,
                 name + ": expected a JSON array of tools, an object each: "
                        "[{\"type\": \"function\", \"function\": {\"name\": ...}}]"},
                kUsage);
  }
  const size_t n_tools = tools.size();
  variables["tools"] = std::move(tools);
  if (succeeded(talk_.set_variables(std::move(variables))))
    view_.noted("the model is told of " + std::to_string(n_tools) +
                (n_tools == 1 ? " tool" : " tools"));
}

}  // namespace plumbline::cli
