// config show, check, schema.
#include <memory>

#include "core/cli/session.h"
#include "core/cli/verbs.h"
#include "core/config/show.h"
#include "core/pipeline/diagnostics.h"

namespace plumbline::cli {
namespace {

struct ConfigOptions {
  PipelineOptions pipeline;
  bool json = false;
  bool diagnostics = false;
};

}  // namespace

void add_config(CLI::App& app, int& exit) {
  auto options = std::make_shared<ConfigOptions>();
  CLI::App* verb = app.add_subcommand("config", "Show or check a pipeline config");
  verb->require_subcommand(1);

  CLI::App* show =
      verb->add_subcommand("show", "The fully resolved config, with the origin of every value");
  options->pipeline.add_to(*show);
  show->add_flag("--json", options->json, "As JSON");
  show->footer("Example:\n  plumb config show gemma3 --set kernels.threads=1");
  show->callback([options, &exit] {
    Session session(options->pipeline);
    print(options->json ? config::show_json(session.config()) + "\n"
                        : config::show_yaml(session.config()));
    exit = kDone;
  });

  CLI::App* check =
      verb->add_subcommand("check", "Say what is wrong in a config, with file, line and column");
  options->pipeline.add_to(*check);
  check->footer("Example:\n  plumb config check my.yaml");
  check->callback([options, &exit] {
    Session session(options->pipeline);
    session.config();
    note("no mistakes found");
    exit = kDone;
  });

  CLI::App* schema =
      verb->add_subcommand("schema", "The JSON Schema of pipeline configs, for editors");
  schema->add_flag("--diagnostics", options->diagnostics,
                   "That of the payload of run --json instead");
  schema->footer("Example:\n  plumb config schema > pipeline.schema.json");
  schema->callback([options, &exit] {
    print(options->diagnostics ? pipeline::diagnostics_schema() : config::json_schema());
    exit = kDone;
  });
}

}  // namespace plumbline::cli
