// bench: how fast, beside how fast this machine can read.
#include <algorithm>
#include <chrono>
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
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<uint32_t> thread_counts(const std::string& text) {
  if (text == "auto") return {default_thread_count()};
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

struct Measured {
  uint32_t n_threads;
  double load_s;
  double time_to_first_token_s;  // of a prompt of 5 ids, load not included
  double prefill_tokens_per_s;
  double decode_tokens_per_s;
  double decode_bytes_per_s;  // weights and KV rows that a token reads
  double read_bytes_per_s;  // of this machine, in this run
  uint64_t
      peak_memory_bytes;  // of the process, before the bandwidth is measured in a buffer of its own
};

Measured measure(const BenchOptions& options, uint32_t n_threads) {
  PipelineOptions pipeline_options = options.pipeline;
  pipeline_options.overrides.push_back("kernels.threads=" + std::to_string(n_threads));
  Session session(pipeline_options);
  Measured m{};
  m.n_threads = n_threads;
  const Clock::time_point start = Clock::now();
  model::Decoder& decoder = *part_or_stop(session.pipeline().decoder());
  m.load_s = seconds_since(start);
  const uint32_t n_vocab = decoder.hyper_parameters().n_vocab;
  if (uint64_t{options.prefill} + options.decode > decoder.capacity_rows()) {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT, "--prefill and --decode together exceed the context of " +
                                              std::to_string(decoder.capacity_rows()) + " rows"});
  }
  const auto forward = [&](std::span<const int32_t> ids) {
    value_or_stop(decoder.forward(ids), kModelFile);
  };
  const auto timed = [&](auto&& body) {
    const Clock::time_point begin = Clock::now();
    body();
    return seconds_since(begin);
  };

  m.time_to_first_token_s = timed([&] { forward(some_ids(5, n_vocab)); });
  std::vector<double> prefill, decode, read;
  const std::vector<int32_t> prompt = some_ids(options.prefill, n_vocab);
  const std::vector<int32_t> next = some_ids(options.decode, n_vocab);
  // Run 0 warms up and shows the memory. Interleaved, since a shared machine's speed drifts.
  for (uint32_t run = 0; run <= options.runs; ++run) {
    if (run > 0) read.push_back(read_bandwidth_bytes_per_s(session.pipeline().threads()));
    value_or_stop(decoder.truncate(0), kModelFile);
    const double prefill_s = timed([&] { forward(prompt); });
    value_or_stop(decoder.truncate(0), kModelFile);
    const double decode_s = timed([&] {
      for (const int32_t& id : next) forward({&id, 1});
    });
    if (run == 0) {
      m.peak_memory_bytes = os::peak_memory_bytes();
      continue;
    }
    prefill.push_back(options.prefill / prefill_s);
    decode.push_back(options.decode / decode_s);
  }
  m.prefill_tokens_per_s = median(prefill);
  m.decode_tokens_per_s = median(decode);
  m.read_bytes_per_s = median(read);
  const double kv_bytes = static_cast<double>(decoder.kv_bytes_per_row()) * options.decode / 2;
  m.decode_bytes_per_s =
      m.decode_tokens_per_s * (static_cast<double>(decoder.weight_bytes_per_token()) + kv_bytes);
  return m;
}

int bench(const BenchOptions& options) {
  if (options.prefill == 0 || options.decode == 0 || options.runs == 0) {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT, "--prefill, --decode and --runs: expected at least 1"});
  }
  const std::vector<uint32_t> counts = thread_counts(options.threads);
  OrderedJson rows = OrderedJson::array();
  uint64_t peak = 0;  // of the first row: later ones count what the measuring took
  if (!options.json) {
    print(
        "threads  load ms  first token ms  prefill tok/s  decode tok/s  decode GB/s  read GB/s  "
        "share\n");
  }
  for (const uint32_t n_threads : counts) {
    const Measured m = measure(options, n_threads);
    if (peak == 0) peak = m.peak_memory_bytes;
    if (options.json) {
      rows.push_back({{"threads", m.n_threads},
                      {"load_s", m.load_s},
                      {"time_to_first_token_s", m.time_to_first_token_s},
                      {"prefill_tokens_per_s", m.prefill_tokens_per_s},
                      {"decode_tokens_per_s", m.decode_tokens_per_s},
                      {"decode_bytes_per_s", m.decode_bytes_per_s},
                      {"read_bytes_per_s", m.read_bytes_per_s}});
      continue;
    }
    char line[200];
    std::snprintf(line, sizeof line, "%7u  %7.0f  %14.1f  %13.1f  %12.1f  %11.2f  %9.2f  %4.0f%%\n",
                  m.n_threads, m.load_s * 1e3, m.time_to_first_token_s * 1e3,
                  m.prefill_tokens_per_s, m.decode_tokens_per_s, m.decode_bytes_per_s / 1e9,
                  m.read_bytes_per_s / 1e9, 100 * m.decode_bytes_per_s / m.read_bytes_per_s);
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
  verb->add_flag("--json", options->json, "As JSON, in seconds and bytes");
  verb->footer("Example:\n  plumb bench gemma3 --prefill 512 --decode 64 --threads 1,2");
  verb->callback([options, &exit] { exit = bench(*options); });
}

}  // namespace plumbline::cli
