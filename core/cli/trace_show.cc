// trace show: a trace folder as tables.
#include <memory>

#include "core/cli/session.h"
#include "core/cli/verbs.h"
#include "core/trace/op_selection.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

struct ShowOptions {
  std::string folder;
  std::vector<std::string> patterns;
};

// A file of anyone's making: whatever is missing or of another type is told of by the JSON library.
std::string text_of(const OrderedJson& json) {
  return printable(json.is_string() ? json.get<std::string>() : json.dump());
}

std::string short_number(const OrderedJson& json) {
  if (!json.is_number()) return text_of(json);
  char shown[32];
  std::snprintf(shown, sizeof shown, "%.4g", json.get<double>());
  return shown;
}

std::string right(std::string text, size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

std::string hash_start(const OrderedJson& hash) {
  return text_of(hash).substr(0, 12);
}

void print_run(const OrderedJson& index) {
  print("made by " + text_of(index.at("made_by")) + ", level " + text_of(index.at("level")) + "\n");
  for (const auto& [key, value] : index.at("run").items())
    print("  " + padded(printable(key), 14) + text_of(value) + "\n");
  const OrderedJson& changed = index.at("taps_change_logits");
  print(changed.is_null()     ? "taps: not compared with a run without them (--verify)\n"
        : changed.get<bool>() ? "taps: they CHANGE bits of the logits\n"
                              : "taps: they change no bit of the logits\n");
}

void print_bytes(const std::string& door, const OrderedJson& bytes) {
  print(padded(door, 12) + text_of(bytes.at("bytes")) + " bytes, sha256 " +
        hash_start(bytes.at("sha256")) + "  " + text_of(bytes.at("file")) + "\n");
}

void print_picks(const OrderedJson& doors) {
  const OrderedJson& steps = doors.at("30 logits").at("steps");
  const OrderedJson& picks = doors.at("40 pick");
  print(
      "30 logits and 40 picks\n  step  position  sha256         id      kept  coin       "
      "probability  piece\n");
  for (size_t i = 0; i < steps.size() && i < picks.size(); ++i) {
    const OrderedJson& step = steps.at(i);
    const OrderedJson& pick = picks.at(i);
    print("  " + padded(text_of(step.at("step")), 6) + padded(text_of(step.at("position")), 10) +
          padded(hash_start(step.at("sha256")), 15) + padded(text_of(pick.at("id")), 8) +
          padded(text_of(pick.at("kept")), 6) + padded(short_number(pick.at("coin")), 11) +
          padded(short_number(pick.at("probability")), 13) + printable(pick.at("piece").dump()) +
          "\n");
  }
}

constexpr const char* kStatistics[] = {"min", "max", "mean", "rms", "nan", "infinite", "zeros"};

void print_op_row(const OrderedJson& op) {
  const OrderedJson& chunks = op.at("chunks");
  std::string line = padded(text_of(op.at("name")), 26) + right(text_of(op.at("rows")), 6) +
                     right(text_of(op.at("width")), 8);
  for (const char* name : kStatistics)
    line += right(op.contains("statistics") ? short_number(op["statistics"].at(name)) : "", 11);
  if (!chunks.empty()) line += "  " + hash_start(chunks.back().at("sha256"));
  print(line + "\n");
}

void print_ops(const OrderedJson& ops, const std::vector<std::string>& patterns) {
  std::string head = padded("20 ops", 26) + right("rows", 6) + right("width", 8);
  for (const char* name : kStatistics) head += right(name, 11);
  print(head + "  last chunk\n");
  size_t n_shown = 0;
  for (const OrderedJson& op : ops) {
    const std::string name = text_of(op.at("name"));
    const auto is_meant = [&](const std::string& p) { return trace::matches(p, name); };
    if (!patterns.empty() && std::ranges::none_of(patterns, is_meant)) continue;
    ++n_shown;
    print_op_row(op);
    if (patterns.empty()) continue;
    print("  kind " + text_of(op.at("kind")) + ", backend " + text_of(op.at("backend")) +
          (op.contains("file") ? ", file " + text_of(op["file"]) : "") + "\n");
    for (const OrderedJson& chunk : op.at("chunks")) {
      print("  positions from " + padded(text_of(chunk.at("first_position")), 8) +
            right(text_of(chunk.at("rows")), 3) + " rows  " + text_of(chunk.at("sha256")) + "\n");
    }
    if (!op.contains("statistics")) continue;
    std::string fingerprint = "  last row ";
    for (const OrderedJson& value : op["statistics"].at("fingerprint"))
      fingerprint += " " + short_number(value);
    print(fingerprint + "\n");
  }
  if (n_shown == 0) {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                  "the trace has no op that matches; plumb trace show FOLDER lists them"});
  }
}

int show(const ShowOptions& options) {
  const std::string file = options.folder + "/trace.json";
  const OrderedJson index = parse_json(read_all(file), file);
  try {
    if (index.at("plumb_trace") != 1) {
      stop(kModelFile, {PLUMB_CORRUPT, file + ": plumb_trace: expected 1, found " +
                                           text_of(index.at("plumb_trace"))});
    }
    const OrderedJson& doors = index.at("doors");
    if (options.patterns.empty()) {
      print_run(index);
      print_bytes("00 prompt", doors.at("00 prompt"));
      print("10 tokens   " + std::to_string(doors.at("10 tokens").at("ids").size()) + " ids " +
            printable(doors.at("10 tokens").at("ids").dump()) + "\n");
    }
    print_ops(doors.at("20 ops"), options.patterns);
    if (options.patterns.empty()) {
      print_picks(doors);
      print_bytes("50 bytes", doors.at("50 bytes"));
      print_bytes("60 text", doors.at("60 text"));
    }
  } catch (const nlohmann::json::exception& error) {
    stop(kModelFile, {PLUMB_CORRUPT, file + ": is no trace: " + error.what()});
  }
  return kDone;
}

}  // namespace

void add_trace_show(CLI::App& trace, int& exit) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* verb = trace.add_subcommand("show", "Print a trace folder as tables");
  verb->add_option("FOLDER", options->folder, "What plumb trace -o made")->required();
  verb->add_option("--op", options->patterns, "These ops alone, in detail: 3.attn_q, '*.attn_*'");
  verb->footer("Example:\n  plumb trace show seen --op '*.attend'");
  verb->callback([options, &exit] { exit = show(*options); });
}

}  // namespace plumbline::cli
