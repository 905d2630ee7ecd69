#include "core/cli/chat/chat.h"

#include <algorithm>
#include <exception>

namespace plumbline::cli {

using conversation::Answer;
using conversation::State;
using pipeline::OrderedJson;

void Chat::fail(const Error& error, int exit) {
  view_.failed(error);
  if (exit_ == kDone) exit_ = exit;
}

bool Chat::answer(const std::function<Result<Answer>(const conversation::Request&)>& make) {
  conversation::Request request = settings_.request();
  request.on_text = [&](std::string_view text) { view_.text(text); };
  request.on_thinking = [&](std::string_view text) { view_.thought(text); };
  // A cancel in front of the answer would hit nobody.
  request.on_state = [&](State state) {
    if (state == State::kPrefill && is_interrupted_) talk_.cancel();
  };
  pipeline::EndWatch ends(*part_or_stop(session_.pipeline().tokenizer()));
  if (view_.shows_payloads()) {
    payload_ = next_transaction(opened_, settings_.sampling());
    request.diagnostics = &payload_;
    request.on_logits = [&](std::span<const float> logits) { ends.on_logits(logits); };
    request.on_pick = [&](const pipeline::Pick& pick) { ends.on_pick(pick); };
  }
  view_.answer_begins(payload_);
  const Result<Answer> answer = make(request);
  if (payload_.generation) payload_.generation->n_end_tokens_passed_over = ends.n_passed_over();
  if (!succeeded(answer)) return false;
  view_.answer_ends(*answer, usage());
  note_calls();
  ++totals_.n_answers;
  totals_.n_tokens += answer->ids.size();
  totals_.n_prompt_tokens += answer->prompt_ids.size();
  totals_.n_reused_tokens += answer->n_reused_rows;
  totals_.prefill_s += answer->prefill_s;
  totals_.decode_s += answer->decode_s;
  return true;
}

void Chat::note_calls() {
  if (!is_waiting()) return;
  view_.noted("the model calls " + messages().back()["tool_calls"].dump() +
              ": what you enter next is the result, /abandon goes on without");
}

std::vector<OrderedJson> Chat::results(const std::string& text) {
  const OrderedJson all = messages();
  const OrderedJson result{{"role", "tool"}, {"content", text}};
  return std::vector<OrderedJson>(all.back()["tool_calls"].size(), result);
}

void Chat::interrupt() noexcept {
  is_interrupted_ = true;
  talk_.cancel();
}

void Chat::show_failures_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Failure& failure) {
    fail(failure.error, failure.exit);
  } catch (const std::exception& error) {
    // A library's own, such as memory that the system does not give.
    fail({PLUMB_INTERNAL, error.what()}, kModelFile);
  }
}

void Chat::enter(const std::string& text) {
  show_failures_of([&] { say(text); });
}

bool Chat::begin_with(std::string_view path) {
  show_failures_of([&] { load(path); });
  return exit_ == kDone;
}

void Chat::say(const std::string& text) {
  const std::optional<size_t> edited = std::exchange(edited_, std::nullopt);
  if (text.starts_with('/') && !text.starts_with("//")) return command(text);
  const std::string message = text.starts_with("//") ? text.substr(1) : text;
  if (message.find_first_not_of(" \t\n") == message.npos) return;
  answer([&](const conversation::Request& request) {
    if (!edited && is_waiting()) return talk_.give(results(message), request);
    if (!edited) return talk_.ask(message, request);
    return talk_.edit(*edited, {{"role", "user"}, {"content", message}}, request);
  });
}

void Chat::command(std::string_view line) {
  const size_t end = std::min(line.find_first_of(" \n"), line.size());
  const std::string_view name = line.substr(1, end - 1);
  const size_t begin = std::min(line.find_first_not_of(" \n", end), line.size());
  const Command* found = find_command(name);
  if (found == nullptr) {
    return fail({PLUMB_NOT_FOUND, "/" + std::string(name) +
                                      ": no such command; /help shows them all (a message that "
                                      "begins with a slash is written with two)"},
                kUsage);
  }
  std::string_view argument = line.substr(begin);
  while (argument.ends_with(' ') || argument.ends_with('\n')) argument.remove_suffix(1);
  (this->*found->run)(argument);
}

conversation::Conversation::Usage Chat::usage() {
  const auto usage = talk_.usage();
  return usage ? *usage : conversation::Conversation::Usage{};
}

OrderedJson Chat::messages() {
  return value_or_stop(talk_.messages(), kModelFile);
}

std::vector<size_t> Chat::questions() {
  const OrderedJson all = messages();
  std::vector<size_t> indices;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].value("role", "") == "user") indices.push_back(i);
  }
  return indices;
}

editor::Completion Chat::complete(std::string_view before) const {
  editor::Completion completion;
  std::vector<std::string> words;
  const size_t blank = before.find(' ');
  const std::string_view command = before.substr(0, blank);
  if (!before.starts_with('/')) return completion;
  if (blank == before.npos) {
    for (const Command& known : commands())
      words.push_back("/" + std::string(known.name) + (known.arguments.empty() ? "" : " "));
  } else {
    completion.begin = blank + 1;
    if (command == "/set") {
      for (const std::string& key : settings_.keys()) words.push_back(key + "=");
    } else if (command == "/help") {
      for (const Command& known : commands()) words.emplace_back(known.name);
    }
  }
  for (std::string& word : words) {
    if (word.starts_with(before.substr(completion.begin)))
      completion.words.push_back(std::move(word));
  }
  return completion;
}

}  // namespace plumbline::cli
