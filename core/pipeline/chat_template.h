// chat_template.h: a compiled chat template.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/messages.h"
#include "plumb/ext/template.h"
#include "plumb/sdk/result.h"

namespace plumbline::pipeline {

struct Rendered {
  std::string bytes = {};
  /// Sorted ranges of what strangers wrote; empty optional: the engine cannot tell.
  std::optional<std::vector<plumb_span>> untrusted = {};
};

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
  /// untrusted: JSON pointers to what strangers wrote of it.
  /// Fails INVALID_ARGUMENT (a context nested too deep), and as the engine does.
  Result<Rendered> render(const OrderedJson& context, int64_t now_unix_s,
                          const std::vector<std::string>& untrusted = {}) const;

 private:
  ChatTemplate(std::string id, const plumb_template_engine& table, void* self)
      : id_(std::move(id)), table_(&table), self_(self) {}

  std::string id_;
  const plumb_template_engine* table_;
  void* self_;
};

/// Messages, or an object with them, made complete (chat_context), rendered, and cut where the
/// prompt goes on with the last message.
Result<Rendered> render_conversation(const ChatTemplate& chat_template, OrderedJson messages,
                                     const ContextRequest& request, int64_t now_unix_s);

}  // namespace plumbline::pipeline
