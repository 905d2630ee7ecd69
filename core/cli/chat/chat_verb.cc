// chat: a conversation.
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <new>

#include "core/base/os/paths.h"
#include "core/base/os/terminal.h"
#include "core/cli/chat/chat.h"
#include "core/cli/chat/chat_lines.h"
#include "core/cli/chat/chat_terminal.h"
#include "core/cli/session.h"
#include "core/cli/slow_note.h"
#include "core/cli/verbs.h"

namespace plumbline::cli {
namespace {

using conversation::Conversation;

struct ChatOptions {
  PipelineOptions pipeline;
  std::string system;
  std::string messages_file;
  bool json = false;
  bool once = false;
  bool quiet = false;
  bool no_history = false;
};

std::unique_ptr<Conversation> begin(Session& session, pipeline::Diagnostics& told) {
  const SlowNote loading("loading the model");
  open_parts(session, told);
  const config::PipelineConfig& config = session.config().config;
  conversation::Options options = conversation::options_of(config);
  options.now_unix_s = std::time(nullptr);
  options.model_sha256 = model_pin(config.model.source, session.host());
  return part_or_stop(Conversation::create(session.pipeline(), options));
}

editor::LineHistory open_history(const ChatOptions& options) {
  const std::string folder = os::user_state_folder();
  if (options.no_history || folder.empty()) return {};
  Result<editor::LineHistory> history =
      editor::LineHistory::open(folder + "/plumbline/chat_history");
  if (history) return *std::move(history);
  note("the history is not kept: " + history.error().message);
  return {};
}

/// False: it cannot begin with what was given, which was shown.
bool prepare(Chat& chat, Conversation& talk, const ChatOptions& options) {
  if (!options.system.empty()) value_or_stop(talk.set_system(options.system), kModelFile);
  return options.messages_file.empty() || chat.begin_with(options.messages_file);
}

// For the handler of signals.
std::atomic<Chat*> at_terminal{nullptr};

void interrupt() {
  if (Chat* chat = at_terminal) chat->interrupt();
}

/// The chat goes before the terminal does.
class AtTerminal {
 public:
  explicit AtTerminal(Chat& chat) { at_terminal = &chat; }
  ~AtTerminal() { at_terminal = nullptr; }
  AtTerminal(const AtTerminal&) = delete;
  AtTerminal& operator=(const AtTerminal&) = delete;
};

int talk_at_terminal(Session& session, Conversation& talk, const pipeline::Diagnostics& opened,
                     const ChatOptions& options) {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool has_styles = no_colour == nullptr || *no_colour == '\0';
  const std::unique_ptr<os::Terminal> terminal =
      value_or_stop(os::Terminal::open({.on_interrupt = interrupt}), kUsage);
  const std::unique_ptr<ChatView> view = make_terminal_view(*terminal, has_styles, options.quiet);
  Chat chat(session, talk, *view, opened);
  const AtTerminal interruptible(chat);
  editor::LineHistory history = open_history(options);
  if (!options.quiet) {
    const model::Decoder& decoder = *part_or_stop(session.pipeline().decoder());
    view->noted(decoder.hyper_parameters().name + ", " + std::to_string(decoder.capacity_rows()) +
                " tokens of context; /help tells what can be done");
  }
  if (!prepare(chat, talk, options)) return chat.exit();
  return chat_at_terminal(chat, *terminal, history, has_styles);
}

int talk_in_lines(Session& session, Conversation& talk, const pipeline::Diagnostics& opened,
                  const ChatOptions& options) {
  const bool is_person =
      os::is_terminal(os::Stream::kInput) && os::is_terminal(os::Stream::kOutput);
  const std::unique_ptr<ChatView> view =
      options.json ? make_json_view() : make_pipe_view(options.quiet);
  Chat chat(session, talk, *view, opened);
  if (!prepare(chat, talk, options)) return chat.exit();
  return chat_in_lines(
      chat, *view,
      {.is_json = options.json, .is_once = options.once, .prompt = is_person ? "> " : ""});
}

/// The payload is there, however early it ends.
void fail_early(ChatView& view, pipeline::Diagnostics& told, const Error& error) {
  told.fail(error);
  view.answer_begins(told);
  view.failed(error);
}

int run(const ChatOptions& options) {
  Session session(options.pipeline);
  pipeline::Diagnostics opened;
  std::unique_ptr<Conversation> talk;
  try {
    talk = begin(session, opened);
  } catch (const Failure& failure) {
    if (options.json) fail_early(*make_json_view(), opened, failure.error);
    throw;
  } catch (const std::bad_alloc&) {
    if (options.json) fail_early(*make_json_view(), opened, {PLUMB_INTERNAL, "out of memory"});
    throw;
  }
  const bool is_at_terminal = !options.json && !options.once &&
                              os::is_terminal(os::Stream::kInput) &&
                              os::is_terminal(os::Stream::kOutput) && os::obeys_sequences();
  return is_at_terminal ? talk_at_terminal(session, *talk, opened, options)
                        : talk_in_lines(session, *talk, opened, options);
}

}  // namespace

void add_chat(CLI::App& app, int& exit) {
  auto options = std::make_shared<ChatOptions>();
  CLI::App* verb = app.add_subcommand("chat", "A conversation, at a terminal or line by line");
  options->pipeline.add_to(*verb);
  verb->add_option("--system", options->system, "The system message to begin with");
  verb->add_option("--messages,--load", options->messages_file,
                   "What to begin with: a JSON file with messages, or what /save wrote");
  CLI::Option* json = verb->add_flag(
      "--json", options->json,
      "For programs: a JSON string in each line of stdin, an event in each of stdout");
  verb->add_flag("--once", options->once, "All of stdin is one message; end when it is answered")
      ->excludes(json);
  verb->add_flag("-q,--quiet", options->quiet, "Answers and errors, no notes");
  verb->add_flag("--no-history", options->no_history, "Neither read nor keep what is entered");
  verb->footer(
      "At a terminal: Enter sends, Alt-Enter (or \\ at the end) begins another line, Tab "
      "completes,\n"
      "/help tells the commands. Ctrl-C stops an answer; in an empty entry, twice, it leaves, and "
      "so\n"
      "does Ctrl-D.\n"
      "Examples:\n"
      "  plumb chat\n"
      "  plumb chat qwen2.5-coder --system \"Answer in one sentence.\"\n"
      "  plumb chat --messages talk.json --set sampling.profile=precise\n"
      "  printf 'Hello.\\nAnd goodbye.\\n' | plumb chat --quiet\n"
      "  plumb chat --once < letter.txt\n"
      "  echo '\"Hello\"' | plumb chat --json");
  verb->callback([options, &exit] { exit = run(*options); });
}

}  // namespace plumbline::cli
