#include "core/cli/chat/chat_view.h"

#include <cstdio>
#include <utility>

#include "core/cli/session.h"
#include "plumb/sdk/abi.h"

namespace plumbline::cli {
namespace {

using conversation::Answer;
using conversation::Conversation;
using pipeline::OrderedJson;

class PipeView : public ChatView {
 public:
  explicit PipeView(bool is_quiet) : is_quiet_(is_quiet) {}

  void answer_begins(const pipeline::Diagnostics&) override {}
  void thought(std::string_view) override {}
  void text(std::string_view text) override { print(harmless(text)); }
  void answer_ends(const Answer& answer, const Conversation::Usage&) override {
    print("\n");
    if (is_quiet_) return;
    if (const std::string evicted = evicted_of(answer); !evicted.empty()) note(evicted);
    if (answer.stop_reason == pipeline::StopReason::kCancelled) note("cancelled");
  }
  void told(std::string_view text) override { note(text); }
  void noted(std::string_view line) override {
    if (!is_quiet_) note(line);
  }
  void failed(const Error& error) override { note("plumb: error: " + error.message); }

 private:
  bool is_quiet_;
};

class JsonView : public ChatView {
 public:
  bool shows_payloads() const override { return true; }
  void answer_begins(const pipeline::Diagnostics& payload) override { payload_ = &payload; }
  void thought(std::string_view text) override { event("thinking", {{"text", text}}); }
  void text(std::string_view text) override { event("text", {{"text", text}}); }
  void answer_ends(const Answer& answer, const Conversation::Usage& usage) override {
    event("answer",
          {{"message", answer.message},
           {"stop_reason", pipeline::stop_reason_name(answer.stop_reason)},
           {"n_tokens", answer.ids.size()},
           {"n_prompt_tokens", answer.prompt_ids.size()},
           {"n_reused_tokens", answer.n_reused_rows},
           {"n_evicted_messages", answer.evicted.messages.last - answer.evicted.messages.first},
           {"seed", answer.seed},
           {"context", {{"used", usage.held_rows}, {"capacity", usage.capacity_rows}}},
           {"prefill_s", answer.prefill_s},
           {"decode_s", answer.decode_s},
           {"diagnostics", pipeline::diagnostics_json(*std::exchange(payload_, nullptr))}});
  }
  void told(std::string_view text) override { event("told", {{"text", text}}); }
  void noted(std::string_view line) override { event("note", {{"text", line}}); }
  void failed(const Error& error) override {
    OrderedJson told{{"code", status_name(error.code)}, {"message", error.message}};
    // Of an answer; a command has none.
    if (payload_ != nullptr)
      told["diagnostics"] = pipeline::diagnostics_json(*std::exchange(payload_, nullptr));
    event("error", told);
  }

 private:
  static void event(std::string_view name, OrderedJson rest) {
    OrderedJson line = {{"event", name}};
    line.update(rest);
    print(line.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
  }

  const pipeline::Diagnostics* payload_ = nullptr;  // of the answer that is being made
};

}  // namespace

std::unique_ptr<ChatView> make_pipe_view(bool is_quiet) {
  return std::make_unique<PipeView>(is_quiet);
}

std::unique_ptr<ChatView> make_json_view() {
  return std::make_unique<JsonView>();
}

std::string speed_of(const Answer& answer) {
  const double speed = pipeline::decode_speed(answer.ids.size(), answer.decode_s);
  char text[64];
  std::snprintf(text, sizeof text, "%zu tokens", answer.ids.size());
  std::string line = text;
  if (speed > 0) {
    std::snprintf(text, sizeof text, ", %.1f/s", speed);
    line += text;
  }
  return line;
}

std::string evicted_of(const Answer& answer) {
  const size_t n = answer.evicted.messages.last - answer.evicted.messages.first;
  if (n == 0) return "";
  return std::to_string(n) + (n == 1 ? " older message" : " older messages") +
         " left out of the context, to make room";
}

}  // namespace plumbline::cli
