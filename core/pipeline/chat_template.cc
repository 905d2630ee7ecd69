#include "core/pipeline/chat_template.h"

#include <algorithm>
#include <utility>

#include "plumb/sdk/abi.h"

namespace plumbline::pipeline {
namespace {

// Writing JSON recurses, and messages come from outside.
constexpr int kContextDepthMax = 128;

bool is_deeper_than(const OrderedJson& json, int depth) {
  if (!json.is_structured()) return false;
  return depth == 0 || std::any_of(json.begin(), json.end(), [&](const OrderedJson& inner) {
           return is_deeper_than(inner, depth - 1);
         });
}

}  // namespace

Result<ChatTemplate> ChatTemplate::create(std::string id, const plumb_template_engine& table,
                                          const plumb_host* host, std::string_view source,
                                          const std::string& undefined) {
  const std::string options = OrderedJson{{"undefined", undefined}}.dump();
  ErrorBuffer error;
  void* self = nullptr;
  const plumb_status status = table.create(host, to_abi(source), to_abi(options), &self, error);
  if (status != PLUMB_OK) return error.take(status).at(id);
  return ChatTemplate(std::move(id), table, self);
}

ChatTemplate::ChatTemplate(ChatTemplate&& other) noexcept
    : id_(std::move(other.id_)), table_(other.table_), self_(std::exchange(other.self_, nullptr)) {}

ChatTemplate::~ChatTemplate() {
  if (self_ != nullptr) table_->destroy(self_);
}

Result<std::string> ChatTemplate::render(const OrderedJson& context, int64_t now_unix_s) const {
  if (is_deeper_than(context, kContextDepthMax)) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "messages: nested deeper than " + std::to_string(kContextDepthMax) + " levels"};
  }
  const std::string json = context.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  auto request = make_abi<plumb_render_request>();
  request.context_json = to_abi(json);
  request.now_unix_s = now_unix_s;
  std::string out(2 * json.size() + 4096, '\0');
  ErrorBuffer error;
  uint64_t n_bytes = 0;
  plumb_status status = table_->render(self_, &request, out.data(), out.size(), &n_bytes, error);
  if (status == PLUMB_MORE_SPACE) {
    out.resize(n_bytes);
    status = table_->render(self_, &request, out.data(), out.size(), &n_bytes, error);
  }
  if (status != PLUMB_OK) return error.take(status).at(id_);
  if (n_bytes > out.size())
    return Error{PLUMB_INTERNAL, id_ + ": wrote more bytes than there was room for"};
  out.resize(n_bytes);
  return out;
}

Result<OrderedJson> chat_context(OrderedJson input, bool add_generation_prompt,
                                 const SpecialTokens& tokens) {
  OrderedJson context =
      input.is_array() ? OrderedJson{{"messages", std::move(input)}} : std::move(input);
  if (!context.is_object() || !context.contains("messages") || !context["messages"].is_array()) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "messages: expected an array, or an object with the key messages"};
  }
  size_t index = 0;
  for (OrderedJson& message : context["messages"]) {
    const std::string where = "messages[" + std::to_string(index++) + "]";
    if (!message.is_object() || !message.contains("role") || !message["role"].is_string()) {
      return Error{PLUMB_INVALID_ARGUMENT, where + ": expected an object with a role"};
    }
    if (!message.contains("content")) message["content"] = nullptr;
    if (message["role"] == "assistant") {
      message.emplace("tool_calls", OrderedJson::array());
      message.emplace("reasoning_content", nullptr);
    }
  }
  context.emplace("tools", nullptr);
  context.emplace("documents", nullptr);
  context.emplace("add_generation_prompt", add_generation_prompt);
  for (const auto& [name, literal] : tokens) context.emplace(name, literal);
  context.emplace("bos_token", "");
  context.emplace("eos_token", "");
  return context;
}

}  // namespace plumbline::pipeline
