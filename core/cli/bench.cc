// bench: how fast, beside how fast this machine can read.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>

#include "core/base/bandwidth.h"
#include "core/base/os/memory.h"
#include "core/cli/session.h"
#include "core/cli/verbs.h"

namespace plumbline::cli {
namespace {

using Clock = std::chrono::steady_clock;
using pipeline::OrderedJson;

struct BenchOptions {
  PipelineOptions pipeline;
  uint32_t prefill = 512;
  uint32_t decode = 64;
  uint32_t runs = 3;
  std::string threads = "auto";
  bool json = false;
  bool paced = false;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<uint32_t> thread_counts(const std::string& text) {
  if (text == "auto") return {useful_thread_count()};
  std::vector<uint32_t> counts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    if (part.empty() || part.size() > 3 ||
        part.find_first_not_of("0123456789") != std::string::npos || part == "0") {
      stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                    "--threads: expected counts between commas like 1,2, found \"" + text + "\""});
    }
    counts.push_back(static_cast<uint32_t>(std::stoul(part)));
    at = end + 1;
  }
  return counts;
}

// Ids that any vocabulary has, not all the same.
std::vector<int32_t> some_ids(uint32_t n, uint32_t n_vocab) {
  std::vector<int32_t> ids(n);
  for (uint32_t i = 0; i < n; ++i)
    ids[i] = static_cast<int32_t>((uint64_t{i} * 7919 + 13) % n_vocab);
  return ids;
}

struct Run {
  double prefill_tokens_per_s;
  double decode_tokens_per_s;
  double decode_bytes_per_s;  // weights and KV rows that a token reads
  double read_bytes_per_s;  // of this machine, in this run
};

// A config's model at one number of threads: loaded, then warmed up by one pass.
class Subject {
 public:
  Subject(const BenchOptions& options, uint32_t n_threads)
      : session_(with_threads(options.pipeline, n_threads)) {
    const Clock::time_point start = Clock::now();
    decoder_ = part_or_stop(session_.pipeline().decoder());
    load_s = seconds_since(start);
    if (uint64_t{options.prefill} + options.decode > decoder_->capacity_rows()) {
      stop(kUsage,
           {PLUMB_INVALID_ARGUMENT, "--prefill and --decode together exceed the context of " +
                                        std::to_string(decoder_->capacity_rows()) + " rows"});
    }
    const uint32_t n_vocab = decoder_->hyper_parameters().n_vocab;
    prefill_ids = some_ids(options.prefill, n_vocab);
    decode_ids = some_ids(options.decode, n_vocab);
    time_to_first_token_s = timed([&] { forward(some_ids(5, n_vocab)); });
    prefill_and_decode();
    peak_memory_bytes = os::peak_memory_bytes();
  }

  // Interleaved, since a shared machine's speed drifts.
  Run run() {
    const double read = read_bandwidth_bytes_per_s(session_.pipeline().threads());
    Run run = prefill_and_decode();
    run.read_bytes_per_s = read;
    return run;
  }

  // What other engines count as loading, and a run without text does not need.
  double load_tokenizer_s() {
    return timed([&] { part_or_stop(session_.pipeline().tokenizer()); });
  }

  uint32_t n_threads() { return session_.pipeline().threads().n_threads(); }
  std::string kernels() { return session_.pipeline().backends().front()->id(); }
  const model::Decoder& decoder() const { return *decoder_; }

  std::vector<int32_t> prefill_ids, decode_ids;
  double load_s;
  double time_to_first_token_s;  // of a prompt of 5 ids, load not included
  uint64_t peak_memory_bytes;  // of the process, before the bandwidth takes a buffer of its own

 private:
  static PipelineOptions with_threads(PipelineOptions options, uint32_t n_threads) {
    options.overrides.push_back("kernels.threads=" + std::to_string(n_threads));
    return options;
  }

  template <typename Body>
  static double timed(Body&& body) {
    const Clock::time_point begin = Clock::now();
    body();
    return seconds_since(begin);
  }

  void forward(std::span<const int32_t> ids) { value_or_stop(decoder_->forward(ids), kModelFile); }

  // Each into an empty cache.
  Run prefill_and_decode() {
    value_or_stop(decoder_->truncate(0), kModelFile);
    const double prefill_s = timed([&] { forward(prefill_ids); });
    value_or_stop(decoder_->truncate(0), kModelFile);
    const double decode_s = timed([&] {
      for (const int32_t& id : decode_ids) forward({&id, 1});
    });
    const auto n_decode = static_cast<double>(decode_ids.size());
    const double token_bytes = static_cast<double>(decoder_->weight_bytes_per_token()) +
                               static_cast<double>(decoder_->kv_bytes_per_row()) * n_decode / 2;
    return {.prefill_tokens_per_s = static_cast<double>(prefill_ids.size()) / prefill_s,
            .decode_tokens_per_s = n_decode / decode_s,
            .decode_bytes_per_s = n_decode / decode_s * token_bytes,
            .read_bytes_per_s = 0};
  }

  Session session_;
  model::Decoder* decoder_;
};

OrderedJson to_json(const Run& run) {
  return {{"prefill_tokens_per_s", run.prefill_tokens_per_s},
          {"decode_tokens_per_s", run.decode_tokens_per_s},
          {"decode_bytes_per_s", run.decode_bytes_per_s},
          {"read_bytes_per_s", run.read_bytes_per_s}};
}

// Each figure's median.
Run median_run(Subject& subject, uint32_t n_runs) {
  std::vector<Run> runs;
  for (uint32_t i = 0; i < n_runs; ++i) runs.push_back(subject.run());
  Run middle{};
  for (double Run::*figure : {&Run::prefill_tokens_per_s, &Run::decode_tokens_per_s,
                              &Run::decode_bytes_per_s, &Run::read_bytes_per_s}) {
    std::vector<double> values;
    for (const Run& run : runs) values.push_back(run.*figure);
    middle.*figure = median(std::move(values));
  }
  return middle;
}

// One run for each line of stdin, so that another program can measure its own subject in between.
int bench_paced(const BenchOptions& options, const std::vector<uint32_t>& counts) {
  if (counts.size() != 1) {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT, "--paced: expected one count of --threads, found " +
                                              std::to_string(counts.size())});
  }
  Subject subject(options, counts[0]);
  const auto print_line = [](const OrderedJson& json) { print(json.dump() + "\n"); };
  print_line({{"threads", subject.n_threads()},
              {"kernels", subject.kernels()},
              {"load_s", subject.load_s},
              {"load_tokenizer_s", subject.load_tokenizer_s()},
              {"time_to_first_token_s", subject.time_to_first_token_s},
              {"prefill_ids", subject.prefill_ids},
              {"decode_ids", subject.decode_ids},
              {"weight_bytes_per_token", subject.decoder().weight_bytes_per_token()},
              {"kv_bytes_per_row", subject.decoder().kv_bytes_per_row()}});
  for (std::string line; std::getline(std::cin, line);) print_line(to_json(subject.run()));
  return kDone;
}

int bench(const BenchOptions& options) {
  if (options.prefill == 0 || options.decode == 0 || options.runs == 0) {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT, "--prefill, --decode and --runs: expected at least 1"});
  }
  const std::vector<uint32_t> counts = thread_counts(options.threads);
  if (options.paced) return bench_paced(options, counts);
  OrderedJson rows = OrderedJson::array();
  uint64_t peak = 0;  // of the first row: later ones count what the measuring took
  if (!options.json) {
    print(
        "threads  load ms  first token ms  prefill tok/s  decode tok/s  decode GB/s  read GB/s  "
        "share\n");
  }
  for (const uint32_t n_threads : counts) {
    Subject subject(options, n_threads);
    if (peak == 0) peak = subject.peak_memory_bytes;
    const Run run = median_run(subject, options.runs);
    if (options.json) {
      OrderedJson row{{"threads", subject.n_threads()},
                      {"load_s", subject.load_s},
                      {"time_to_first_token_s", subject.time_to_first_token_s}};
      row.update(to_json(run));
      rows.push_back(std::move(row));
      continue;
    }
    char line[200];
    std::snprintf(line, sizeof line, "%7u  %7.0f  %14.1f  %13.1f  %12.1f  %11.2f  %9.2f  %4.0f%%\n",
                  subject.n_threads(), subject.load_s * 1e3, subject.time_to_first_token_s * 1e3,
                  run.prefill_tokens_per_s, run.decode_tokens_per_s, run.decode_bytes_per_s / 1e9,
                  run.read_bytes_per_s / 1e9, 100 * run.decode_bytes_per_s / run.read_bytes_per_s);
    print(line);
  }
  if (options.json) {
    print_json({{"prefill", options.prefill},
                {"decode", options.decode},
                {"runs", options.runs},
                {"peak_memory_bytes", peak},
                {"rows", rows}});
  } else {
    char line[120];
    std::snprintf(line, sizeof line,
                  "peak memory %.0f MB; prefill %u, decode %u tokens, median of %u runs",
                  peak / 1e6, options.prefill, options.decode, options.runs);
    note(line);
  }
  return kDone;
}

}  // namespace

void add_bench(CLI::App& app, int& exit) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* verb =
      app.add_subcommand("bench", "Tokens per second, beside the machine's own read bandwidth");
  options->pipeline.add_to(*verb);
  verb->add_option("--prefill", options->prefill, "Tokens of the prompt")->capture_default_str();
  verb->add_option("--decode", options->decode, "Tokens to generate")->capture_default_str();
  verb->add_option("--threads", options->threads, "Thread counts, like 1,2; auto: all processors")
      ->capture_default_str();
  verb->add_option("--runs", options->runs, "Runs of which the median is taken")
      ->capture_default_str();
  auto* json = verb->add_flag("--json", options->json, "As JSON, in seconds and bytes");
  verb->add_flag(
          "--paced", options->paced,
          "Load, print a JSON line; then a run and its JSON line for each line of stdin: for "
          "a program that measures something else in between")
      ->excludes(json);
  verb->footer("Example:\n  plumb bench gemma3 --prefill 512 --decode 64 --threads 1,2");
  verb->callback([options, &exit] { exit = bench(*options); });
}

}  // namespace plumbline::cli
