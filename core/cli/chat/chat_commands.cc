// The commands of a conversation.
#include <charconv>
#include <cstdio>

#include "core/cli/chat/chat.h"
#include "core/editor/glyphs.h"

namespace plumbline::cli {

using pipeline::OrderedJson;

namespace {

/// What a message says, parts of it as JSON.
std::string text_of(const OrderedJson& message) {
  const OrderedJson content = message.value("content", OrderedJson());
  return content.is_string() ? content.get<std::string>() : content.dump();
}

}  // namespace

const std::vector<Chat::Command>& Chat::commands() {
  static const std::vector<Command> all = {
      {"abandon", "", "go on without the results that the model waits for",
       "The answer stays, without its calls of tools. Ctrl-C in an empty entry does the same.",
       &Chat::abandon},
      {"clear", "", "begin anew; the system message stays", "", &Chat::clear},
      {"continue", "", "go on with the last answer", "", &Chat::go_on},
      {"edit", "[TEXT]", "say your last message in another way",
       "Without TEXT the message comes back to be worked on; Enter sends it, Ctrl-C leaves it as "
       "it\n"
       "was. The old answer is gone with the old message.",
       &Chat::edit},
      {"help", "[COMMAND]", "this, or more about one command", "", &Chat::help},
      {"load", "FILE", "go on with a saved conversation",
       "FILE is what /save wrote, or a JSON array of messages: [{\"role\", \"content\"}]. If the "
       "last\n"
       "one is yours, it is answered.",
       &Chat::load},
      {"quit", "", "leave; so does Ctrl-D", "", &Chat::quit},
      {"retry", "", "another answer to the same message", "", &Chat::retry},
      {"save", "[--rows] FILE", "write the conversation to a file",
       "With all that the answers to come depend on; it belongs to this model. --rows: with what\n"
       "the caches hold too, so that nothing need run again; /stats tells how much that is. A "
       "name\n"
       "that ends in .json has the messages alone, which any model can go on with.",
       &Chat::save},
      {"set", "[KEY=VALUE]", "change sampling or generation, or show them",
       "The keys of --set that need no model loaded anew, for example\n"
       "  /set sampling.profile=precise\n"
       "  /set generation.max_tokens=64\n"
       "A stage's name in front of its parameter will do: /set temperature.t=0.5",
       &Chat::set},
      {"show", "", "the conversation so far", "", &Chat::show},
      {"stats", "", "tokens, speed, context", "", &Chat::stats},
      {"system", "[TEXT]", "set the system message, or show it",
       "It holds from the next answer on. /system - removes it.", &Chat::system},
      {"tools", "[FILE]", "let the model call tools, or show which",
       "FILE is a JSON array: [{\"type\": \"function\", \"function\": {\"name\", "
       "\"description\",\n"
       "\"parameters\"}}]. /tools - removes them. Whether a model knows tools is its template's\n"
       "choice.",
       &Chat::tools},
      {"undo", "[N]", "take back your last message, or N of them, with the answers", "",
       &Chat::undo},
  };
  return all;
}

const Chat::Command* Chat::find_command(std::string_view name) {
  for (const Command& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

void Chat::help(std::string_view name) {
  if (name.starts_with('/')) name.remove_prefix(1);
  if (!name.empty()) {
    const Command* found = find_command(name);
    if (found == nullptr) {
      return fail({PLUMB_NOT_FOUND, "/help " + std::string(name) + ": no such command"}, kUsage);
    }
    std::string text = "/" + std::string(found->name) + " " + std::string(found->arguments) + "  " +
                       std::string(found->summary);
    if (!found->detail.empty()) text += "\n" + std::string(found->detail);
    return view_.told(text);
  }
  std::string text;
  for (const Command& command : commands()) {
    const std::string use = "/" + std::string(command.name) + " " + std::string(command.arguments);
    text += padded(use, 20) + std::string(command.summary) + "\n";
  }
  text +=
      "Enter sends; Alt-Enter, or \\ at the end, begins another line. Tab completes, Ctrl-R "
      "searches.\nCtrl-C stops an answer, Ctrl-D leaves.";
  view_.told(text);
}

void Chat::quit(std::string_view) {
  is_over_ = true;
}

void Chat::abandon(std::string_view) {
  if (succeeded(talk_.abandon())) view_.noted("the model waits for nothing");
}

void Chat::clear(std::string_view) {
  const OrderedJson all = messages();
  std::vector<OrderedJson> kept;
  if (!all.empty() && all[0].value("role", "") == "system") kept.push_back(all[0]);
  // Not cut: the next answer is the first one again, and has its seed.
  if (!succeeded(talk_.set_messages(std::move(kept)))) return;
  view_.noted("a new conversation");
}

void Chat::go_on(std::string_view) {
  const OrderedJson all = messages();
  if (all.empty() || !conversation::is_answer(all.back())) {
    return fail({PLUMB_INVALID_ARGUMENT, "/continue: there is no answer yet to go on with"},
                kUsage);
  }
  answer([&](const conversation::Request& request) { return talk_.go_on(request); });
}

void Chat::retry(std::string_view) {
  answer([&](const conversation::Request& request) { return talk_.retry(request); });
}

void Chat::edit(std::string_view text) {
  const std::vector<size_t> mine = questions();
  if (mine.empty()) {
    return fail({PLUMB_INVALID_ARGUMENT, "/edit: there is no message of yours yet"}, kUsage);
  }
  const size_t last = mine.back();
  if (!text.empty()) {
    answer([&](const conversation::Request& request) {
      return talk_.edit(last, {{"role", "user"}, {"content", text}}, request);
    });
    return;
  }
  edited_ = last;
  const OrderedJson message = messages()[last];
  draft_ = message["content"].is_string() ? message["content"].get<std::string>() : "";
}

void Chat::undo(std::string_view count) {
  size_t n = 1;
  const auto [end, code] = std::from_chars(count.data(), count.data() + count.size(), n);
  if (!count.empty() && (code != std::errc() || end != count.data() + count.size() || n == 0)) {
    return fail({PLUMB_INVALID_ARGUMENT,
                 "/undo " + std::string(count) + ": expected how many messages of yours, from 1"},
                kUsage);
  }
  const OrderedJson all = messages();
  const std::vector<size_t> mine = questions();
  if (mine.size() < n) {
    return fail({PLUMB_INVALID_ARGUMENT, "/undo " + std::to_string(n) + ": there are " +
                                             std::to_string(mine.size()) + " messages of yours"},
                kUsage);
  }
  if (!succeeded(talk_.cut(mine[mine.size() - n]))) return;
  for (size_t i = 1; i <= n; ++i) {
    const std::string text = text_of(all[mine[mine.size() - i]]);
    view_.noted("taken back: " +
                editor::cut_to_columns(std::string_view(text).substr(0, text.find('\n')), 50));
  }
}

void Chat::system(std::string_view text) {
  if (!text.empty()) {
    if (succeeded(talk_.set_system(text == "-" ? "" : text)))
      view_.noted(text == "-" ? "no system message" : "the system message is set");
    return;
  }
  const OrderedJson all = messages();
  const bool has_one = !all.empty() && all[0].value("role", "") == "system";
  view_.told(has_one ? text_of(all[0]) : "there is no system message");
}

void Chat::set(std::string_view assignment) {
  if (assignment.empty()) return view_.told(settings_.shown());
  const Result<void> result = settings_.set(assignment, talk_);
  if (!result) return fail(result.error(), kUsage);
  view_.noted("set");
}

void Chat::show(std::string_view) {
  std::string text;
  for (const OrderedJson& message : messages()) {
    text +=
        (text.empty() ? "" : "\n") + message.value("role", "?") + ": " + text_of(message) + "\n";
  }
  view_.told(text.empty() ? "nothing was said yet" : text);
}

void Chat::stats(std::string_view) {
  const auto used = usage();
  const auto n_run = static_cast<double>(totals_.n_prompt_tokens - totals_.n_reused_tokens);
  char text[640];
  std::snprintf(text, sizeof text,
                "context   %u of %u tokens, %.1f MiB\n"
                "answers   %llu, %llu tokens, %.1f/s\n"
                "prompts   %llu tokens, %llu of them kept from before, the others %.0f/s\n"
                "left out  %llu messages since the beginning",
                used.held_rows, used.capacity_rows,
                static_cast<double>(used.held_rows * used.kv_bytes_per_row) / (1 << 20),
                static_cast<unsigned long long>(totals_.n_answers),
                static_cast<unsigned long long>(totals_.n_tokens),
                pipeline::decode_speed(totals_.n_tokens, totals_.decode_s, totals_.n_answers),
                static_cast<unsigned long long>(totals_.n_prompt_tokens),
                static_cast<unsigned long long>(totals_.n_reused_tokens),
                totals_.prefill_s > 0 ? n_run / totals_.prefill_s : 0,
                static_cast<unsigned long long>(used.n_evicted_messages));
  view_.told(text);
}

}  // namespace plumbline::cli
