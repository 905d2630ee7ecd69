// chat_template.h: a compiled chat template, and the context that it is rendered with.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/pipeline/special_tokens.h"
#include "plumb/ext/template.h"
#include "plumb/sdk/result.h"

namespace plumbline::pipeline {

using OrderedJson = nlohmann::ordered_json;

class ChatTemplate {
 public:
  /// undefined: "strict", "semi_strict" or "hf".
  static Result<ChatTemplate> create(std::string id, const plumb_template_engine& table,
                                     const plumb_host* host, std::string_view source,
                                     const std::string& undefined);
  ChatTemplate(ChatTemplate&& other) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) = delete;
  ~ChatTemplate();

  const std::string& id() const { return id_; }
  /// context: an object with the template's variables. now_unix_s: what strftime_now sees.
  /// Fails INVALID_ARGUMENT (a context nested too deep), and as the engine does.
  Result<std::string> render(const OrderedJson& context, int64_t now_unix_s) const;

 private:
  ChatTemplate(std::string id, const plumb_template_engine& table, void* self)
      : id_(std::move(id)), table_(&table), self_(self) {}

  std::string id_;
  const plumb_template_engine* table_;
  void* self_;
};

/// Makes messages and their surroundings complete, so that a real template renders in strict mode:
/// the optional keys that templates ask for (tools, documents, tool_calls, reasoning_content) are
/// filled with what means "none". input: an array of messages, or an object with "messages" and any
/// further variables, which stay as they are. tokens: bos_token and eos_token are "" where it has
/// none. Fails INVALID_ARGUMENT: what is wrong with which message.
Result<OrderedJson> chat_context(OrderedJson input, bool add_generation_prompt,
                                 const SpecialTokens& tokens);

}  // namespace plumbline::pipeline
