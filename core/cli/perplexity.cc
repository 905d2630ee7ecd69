// perplexity: how well a model predicts a text, and what a quantisation costs over it.
#include <chrono>
#include <cmath>
#include <memory>

#include "core/base/os/durable.h"
#include "core/cli/diff_options.h"
#include "core/cli/sides.h"
#include "core/cli/verbs.h"
#include "core/diff/quantisation_text.h"
#include "core/report/quantisation_page.h"

namespace plumbline::cli {
namespace {

struct PerplexityOptions {
  PairOptions pair;
  std::string text_file;
  uint32_t context = 512;
  uint32_t n_chunks = 0;
  std::string html_file;
  bool json = false;
};

std::string number(const char* format, double value) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// "12.3456 ± 0.0123"; an uncertainty that is not known is left out.
std::string shown(const diff::Estimate& estimate, double unit = 1) {
  std::string text = number("%.6g", estimate.value * unit);
  if (!std::isnan(estimate.error)) text += " ± " + number("%.2g", estimate.error * unit);
  return text;
}

// A line a second, with what is left to do.
class Progress {
 public:
  void operator()(uint32_t done, uint32_t of, std::span<const diff::Scored> rows) {
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::seconds(1);
    double nll_a = 0, nll_b = 0;
    for (const diff::Scored& one : rows) {
      nll_a += one.row.a.nll;
      nll_b += one.row.b.nll;
    }
    const auto n = static_cast<double>(rows.size());
    const double spent_s = std::chrono::duration<double>(now - start_).count();
    std::string line = "chunk " + std::to_string(done) + " of " + std::to_string(of) +
                       ", perplexity " + number("%.4f", std::exp(nll_a / n));
    if (nll_b > 0) line += " and " + number("%.4f", std::exp(nll_b / n));
    note(line + ", " + number("%.0f", spent_s / done * (of - done)) + " s to go");
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::seconds(2);
};

void print_side(const char* name, const diff::SidePerplexity& side) {
  print(padded(std::string("perplexity") + name, 24) + shown(side.perplexity) + ", " +
        number("%.4f", side.bits_per_byte) + " bits a byte\n");
}

void print_percentiles(const diff::QuantisationCost& cost) {
  print("\nshare of rows     KL divergence          delta-p\n");
  for (size_t at = 0; at < cost.kl_percentiles.size(); ++at) {
    const double share = cost.kl_percentiles[at].share;
    const std::string name = share == 1     ? "maximum"
                             : share == 0   ? "minimum"
                             : share == 0.5 ? "median"
                                            : number("%g", 100 * share) + " %";
    char line[80];
    std::snprintf(line, sizeof line, "%-10s %20.6g %14.3f %%\n", name.c_str(),
                  cost.kl_percentiles[at].value, 100 * cost.delta_p_percentiles[at].value);
    print(line);
  }
}

void print_table(const diff::TextScores& scores) {
  print(std::to_string(scores.n_ids) + " ids in " + std::to_string(scores.n_chunks) +
        " chunks of " + std::to_string(scores.context) + ", " + std::to_string(scores.n_bytes) +
        " bytes; ± one standard error, by chunk\n");
  if (!scores.cost) return print_side("", scores.a);
  const diff::QuantisationCost& cost = *scores.cost;
  print_side(" of A", scores.a);
  print_side(" of B", cost.b);
  const auto line = [](const char* name, const std::string& value) {
    print(padded(name, 24) + value + "\n");
  };
  line("ratio B / A", shown(cost.ratio));
  line("difference B - A", shown(cost.difference));
  line("correlation", number("%.4f %%", 100 * cost.correlation));
  line("KL divergence", shown(cost.kl) + " nats");
  line("delta-p, mean", shown(cost.delta_p, 100) + " %");
  line("delta-p, RMS", shown(cost.delta_p_rms, 100) + " %");
  line("same top id", shown(cost.same_top, 100) + " %");
  print_percentiles(cost);
}

int perplexity(PerplexityOptions& options) {
  const std::string text = read_all(options.text_file);
  diff::TextRequest request;
  request.text = text;
  request.context = options.context;
  request.n_chunks = options.n_chunks;
  request.cancel = &catch_interrupt();
  request.on_chunk = Progress();
  std::optional<Pair> pair;
  std::optional<Session> session;
  std::unique_ptr<diff::Side> alone;
  if (options.pair.b.empty() && options.pair.swaps.empty()) {
    session.emplace(PipelineOptions{options.pair.a, options.pair.overrides});
    alone = side_of(*session, options.pair.a);
  } else {
    pair.emplace(options.pair);
  }
  diff::Side& a = pair ? pair->a() : *alone;
  diff::Side* const b = pair ? &pair->b() : nullptr;
  report::QuantisationReport report{.text = options.text_file, .a = a.identity()};
  if (b != nullptr) report.b = b->identity();
  report.scores =
      value_or_stop(diff::score_text(a, b, request), failure_exit(a, b == nullptr ? a : *b));
  if (!options.html_file.empty()) {
    value_or_stop(os::write_file(options.html_file, report::quantisation_page(report)), kModelFile);
  }
  if (options.json) {
    print_json(report::to_json(report));
  } else {
    print_table(report.scores);
  }
  return kDone;
}

}  // namespace

void add_perplexity(CLI::App& app, int& exit) {
  auto options = std::make_shared<PerplexityOptions>();
  CLI::App* verb = app.add_subcommand(
      "perplexity", "How well a model predicts a text; of two, what the second one costs");
  options->pair.add_to(*verb);
  verb->add_option("--text", options->text_file, "The text, UTF-8; - is stdin")->required();
  verb->add_option("--context", options->context,
                   "Ids of a chunk; the second half of each is scored")
      ->check(CLI::Range(4u, 1u << 20))
      ->capture_default_str();
  verb->add_option("--chunks", options->n_chunks, "Read only so many; 0: all")
      ->capture_default_str();
  verb->add_flag("--json", options->json,
                 "All figures as JSON, each with both of its standard errors");
  verb->add_option("--html", options->html_file,
                   "Write it as one HTML page, with plots and without need of a network");
  verb->footer(
      "Examples:\n"
      "  seq 999 | plumb perplexity smollm2 --swap activations=f32 --text - --context 64 --chunks "
      "2\n"
      "  plumb perplexity smollm2 --text book.txt\n"
      "  plumb perplexity smollm2-reference-f32 smollm2 --text book.txt --json\n"
      "  plumb perplexity smollm2 --swap model=smollm2-q4_0.gguf --text book.txt --html cost.html\n"
      "core/doc/quantisation.md tells what each number means. `plumb diff --impact` tells which "
      "tensors cost it.");
  verb->callback([options, &exit] { exit = perplexity(*options); });
}

}  // namespace plumbline::cli
