// plumb: runs small language models from parts loaded at run time, and proves what a swap changed.
#include <csignal>
#include <exception>
#include <new>
#include <string>

#include "core/cli/session.h"
#include "core/cli/verbs.h"

int main(int argc, char** argv) {
  using namespace plumbline::cli;
  // A limit on the size of files is told of as a full disk is, and cleaned up after.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app("Runs small language models from parts loaded at run time.", "plumb");
  app.set_version_flag("--version", "plumb " PLUMB_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  plumb run -p \"Where is Paris?\"\n"
      "  plumb run qwen2.5-coder -p \"Write a loop in C\" --set generation.max_tokens=64\n"
      "  plumb plugins list\n"
      "Each verb explains itself: plumb run --help. Data goes to stdout, everything else to "
      "stderr.\n"
      "Exit codes: 0 done, 1 a difference or a failed check, 2 usage or config, 3 nothing was "
      "compared or tested,\n"
      "4 a model or data file, 5 a plugin, 130 cancelled.");
  int exit = kDone;
  add_run(app, exit);
  add_chat(app, exit);
  add_tokenize(app, exit);
  add_render(app, exit);
  add_doctor(app, exit);
  add_logits(app, exit);
  add_sample(app, exit);
  add_trace(app, exit);
  add_diff(app, exit);
  add_bisect(app, exit);
  add_reduce(app, exit);
  add_reproduce(app, exit);
  add_perplexity(app, exit);
  add_bench(app, exit);
  add_plugins(app, exit);
  add_model(app, exit);
  add_golden(app, exit);
  add_protocol(app, exit);
  add_noise(app, exit);
  add_config(app, exit);
  add_lint(app, exit);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 says of an unknown verb only that one is missing.
    if (error.get_exit_code() != 0 && app.get_subcommands().empty() && argc > 1 &&
        argv[1][0] != '-') {
      std::string verbs;
      for (const CLI::App* verb : app.get_subcommands({})) verbs += " " + verb->get_name();
      note("plumb: error: no verb \"" + std::string(argv[1]) + "\", expected one of" + verbs +
           "; plumb --help explains them");
      return kUsage;
    }
    // 0: help or version was asked for and is printed here.
    return app.exit(error) == 0 ? kDone : kUsage;
  } catch (const Failure& failure) {
    note("plumb: error: " + failure.error.message);
    return failure.exit;
  } catch (const std::bad_alloc&) {
    note("plumb: error: out of memory: choose a smaller model or a smaller context.length");
    return kModelFile;
  } catch (const std::exception& error) {
    // A library's own, such as a thread that the system does not give.
    note(std::string("plumb: error: ") + error.what());
    return kUsage;
  }
  return exit;
}
