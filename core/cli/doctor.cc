// doctor: the prompt "test" through every stage, and what is wrong by name.
#include "core/pipeline/doctor.h"

#include <memory>

#include "core/cli/session.h"
#include "core/cli/turn_options.h"
#include "core/cli/verbs.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

struct DoctorOptions {
  PipelineOptions pipeline;
  bool json = false;
};

OrderedJson report(const pipeline::Examination& seen) {
  OrderedJson findings = OrderedJson::array();
  for (const pipeline::Finding& finding : seen.findings) {
    findings.push_back({{"name", finding.name},
                        {"severity", finding.is_fault ? "fault" : "warning"},
                        {"message", finding.message}});
  }
  return {{"healthy", seen.is_healthy()},
          {"findings", findings},
          {"skipped", seen.skipped},
          {"prompt", seen.prompt.bytes},
          {"ids", seen.ids},
          {"answer", seen.answer},
          {"role_forgery", seen.role_forgery ? shown(*seen.role_forgery) : OrderedJson()}};
}

std::string as_text(const pipeline::Examination& seen) {
  const auto quoted = [](const std::string& text) {
    return OrderedJson(text).dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  };
  std::string text = "prompt   " + quoted(seen.prompt.bytes) + "\n" + "ids      " +
                     OrderedJson(seen.ids).dump() + "\n";
  if (!seen.answer.empty()) text += "answer   " + quoted(seen.answer) + "\n";
  for (const std::string& what : seen.skipped) text += "skipped  " + what + "\n";
  for (const pipeline::Finding& finding : seen.findings) {
    text += (finding.is_fault ? "fault    " : "warning  ") + finding.name + ": " +
            printable(finding.message) + "\n";
  }
  return text + (seen.is_healthy() ? "healthy\n" : "not healthy\n");
}

int doctor(DoctorOptions& options) {
  Session session(options.pipeline);
  const pipeline::Examination seen = pipeline::examine(session.pipeline());
  if (options.json) {
    print_json(report(seen));
  } else {
    print(as_text(seen));
  }
  return seen.is_healthy() ? kDone : kDifference;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* verb = app.add_subcommand(
      "doctor", "Send the prompt \"test\" through every stage and name what is wrong");
  options->pipeline.add_to(*verb);
  verb->add_flag("--json", options->json, "As JSON");
  verb->footer(
      "Exit code 1: at least one fault. core/doc/doctor.md explains every name.\n"
      "Examples:\n"
      "  plumb doctor qwen2.5-coder\n"
      "  plumb doctor --set model.source.path=tokenizer.json --json");
  verb->callback([options, &exit] { exit = doctor(*options); });
}

}  // namespace plumbline::cli
