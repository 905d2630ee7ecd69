// model quantize: a model's file with its weights in another format.
#include "core/model/quantize.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "core/cli/session.h"
#include "core/cli/verbs.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;
using pipeline::OrderedJson;
using Clock = std::chrono::steady_clock;

struct QuantizeVerb {
  std::string in, out, to;
  std::vector<std::string> paths;
  uint32_t threads = 0;  // 0: all processors
  bool force = false;
  bool json = false;
};

plumb_format target_format(const std::string& name) {
  auto format = model::quantisable_format(name);
  if (!format) stop(kUsage, std::move(format).error().at("--to"));
  return *format;
}

void check_target(const std::string& in, const std::string& out, bool force) {
  const auto refuse = [](const std::string& message) {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT, message});
  };
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(out, ignored);
  if (!fs::exists(status)) return;
  if (fs::equivalent(in, out, ignored)) refuse(out + ": is the model itself");
  if (!fs::is_regular_file(status)) refuse(out + ": is in the way, and no regular file");
  if (!force) refuse(out + ": is there already; --force replaces it");
}

// A line each second, once it takes longer than two.
class Progress {
 public:
  void operator()(uint64_t done_bytes, uint64_t total_bytes) {
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::seconds(1);
    char line[100];
    std::snprintf(line, sizeof line, "quantizing: %.0f of %.0f MB",
                  static_cast<double>(done_bytes) / 1e6, static_cast<double>(total_bytes) / 1e6);
    note(line);
  }

 private:
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(2);
};

void note_losses(const model::QuantizeReport& report, plumb_format to) {
  std::map<plumb_format, std::set<std::string>> fallbacks;
  bool was_quantised = false;
  for (const model::QuantizedKind& kind : report.kinds) {
    was_quantised |= find_format(kind.from)->is_quantised && kind.from != kind.to;
    if (kind.is_fallback) fallbacks[kind.to].insert(kind.name);
  }
  for (const auto& [format, names] : fallbacks) {
    std::string line = "note: in " + std::string(format_name(format)) +
                       ", since rows are no whole number of " + std::string(format_name(to)) +
                       "'s blocks:";
    for (const std::string& name : names) line += " " + printable(name);
    note(line);
  }
  if (was_quantised)
    note("note: weights were quantized before; errors are relative to what they were then");
}

void print_table(const model::QuantizeReport& report) {
  char rest[100];
  print("tensors                      n  from      to            MB  RMS error\n");
  for (const model::QuantizedKind& kind : report.kinds) {
    std::snprintf(rest, sizeof rest, " %5llu  %-5s ->  %-5s %9.2f  %9.2e\n",
                  static_cast<unsigned long long>(kind.n_tensors),
                  std::string(format_name(kind.from)).c_str(),
                  std::string(format_name(kind.to)).c_str(), static_cast<double>(kind.bytes) / 1e6,
                  kind.rms_error);
    print(padded(printable(kind.name), 24) + rest);
  }
}

OrderedJson to_json(const model::QuantizeReport& report) {
  OrderedJson kinds = OrderedJson::array();
  for (const model::QuantizedKind& kind : report.kinds) {
    kinds.push_back({{"name", kind.name},
                     {"from", format_name(kind.from)},
                     {"to", format_name(kind.to)},
                     {"is_fallback", kind.is_fallback},
                     {"n_tensors", kind.n_tensors},
                     {"bytes", kind.bytes},
                     {"rms_error", kind.rms_error}});
  }
  return kinds;
}

int quantize(const QuantizeVerb& verb) {
  const plumb_format to = target_format(verb.to);
  Host host = make_host(verb.paths);
  const std::string in = find_model(verb.in, host);
  check_target(in, verb.out, verb.force);
  config::PipelineConfig config;
  config.model.loader = config::kAuto;
  const auto opened = value_or_stop(pipeline::Pipeline::open(config, host, in), kModelFile);
  const auto writer =
      value_or_stop(host.find<plumb_model_writer>({.pin = opened->loader_id()}), kPlugin);

  const uint32_t useful = useful_thread_count();
  ThreadPool pool(verb.threads == 0 ? useful : std::min(verb.threads, useful));
  model::QuantizeOptions options{.to = to, .on_progress = Progress(), .cancel = &catch_interrupt()};
  const model::QuantizeReport report = value_or_stop(
      model::quantize(opened->file(), *writer.table, pool, verb.out, options), kModelFile);
  std::error_code ignored;
  const uint64_t source_bytes = fs::file_size(in, ignored);
  if (verb.json) {
    print_json({{"path", verb.out},
                {"bytes", report.file_bytes},
                {"source", in},
                {"source_bytes", source_bytes},
                {"format", format_name(to)},
                {"tensors", to_json(report)}});
    return kDone;
  }
  note_losses(report, to);
  print_table(report);
  char line[100];
  std::snprintf(line, sizeof line, ": %.2f MB, from %.2f MB\n",
                static_cast<double>(report.file_bytes) / 1e6,
                static_cast<double>(source_bytes) / 1e6);
  print(verb.out + line);
  return kDone;
}

}  // namespace

void add_model_quantize(CLI::App& model, int& exit) {
  auto verb = std::make_shared<QuantizeVerb>();
  CLI::App* sub =
      model.add_subcommand("quantize", "Write a model's file with its weights in another format");
  sub->add_option("MODEL", verb->in, "A model's name, or a file")->required();
  sub->add_option("-o,--out", verb->out, "The file to write")->required();
  sub->add_option("--to", verb->to, "f32, f16, q4_0, q4_1, q5_0, q8_0 or q6_k")->required();
  sub->add_flag("--force", verb->force, "Replace the file if it is there");
  sub->add_option("--threads", verb->threads,
                  "Number of threads; 0: one for each processor, and never more")
      ->check(CLI::Range(0, 999))
      ->capture_default_str();
  add_plugin_paths(*sub, verb->paths);
  sub->add_flag("--json", verb->json, "As JSON");
  sub->footer(
      "Norms and biases are kept in F32. Rows that do not fit Q6_K's blocks of 256 become Q8_0, "
      "and rows that\nare no multiple of 32 become F16. Errors are of the values, "
      "root mean square, relative.\n"
      "Example:\n  plumb model quantize smollm2-135m -o smollm2-q8_0.gguf --to q8_0");
  sub->callback([verb, &exit] { exit = quantize(*verb); });
}

}  // namespace plumbline::cli
