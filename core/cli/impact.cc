#include "core/cli/impact.h"

#include <chrono>
#include <cmath>

#include "core/diff/impact.h"

namespace plumbline::cli {
namespace {

class Progress {
 public:
  void operator()(uint32_t done, uint32_t of) {
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::seconds(1);
    const double spent_s = std::chrono::duration<double>(now - start_).count();
    char line[80];
    std::snprintf(line, sizeof line, "impact: %u of %u, %.0f s to go", done, of,
                  spent_s / done * (of - done));
    note(line);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::seconds(2);
};

std::string formats(const diff::Impact& impact) {
  if (impact.format_a == impact.format_b) return impact.format_a;
  return impact.format_a + " -> " + impact.format_b;
}

void print_table(const diff::ImpactReport& report, uint32_t n_lines) {
  char line[160];
  std::snprintf(line, sizeof line,
                "all of B in A: KL %.4g nats, same top id %.2f %%; %llu rows of %u prompts\n",
                report.kl_of_b, 100 * report.same_top_of_b,
                static_cast<unsigned long long>(report.n_rows), report.n_prompts);
  print(line);
  print("one at a time:\n");
  print("  KL, nats    ± error  same top   MB of B   KL a MB  formats          name\n");
  uint32_t n_shown = 0, n_equal = 0;
  for (const diff::Impact& one : report.impacts) {
    n_equal += one.is_equal ? 1 : 0;
    if (one.is_equal || n_shown == n_lines) continue;
    ++n_shown;
    const double megabytes = static_cast<double>(one.bytes_b) / 1e6;
    char error[20] = "", size[20] = "", rate[20] = "";
    if (!std::isnan(one.kl_error)) std::snprintf(error, sizeof error, "%.1e", one.kl_error);
    if (one.bytes_b > 0) {
      std::snprintf(size, sizeof size, "%.2f", megabytes);
      std::snprintf(rate, sizeof rate, "%.1e", one.kl / megabytes);
    }
    std::snprintf(line, sizeof line, "%10.3e %10s %7.2f %% %9s %9s  %-16s ", one.kl, error,
                  100 * one.same_top, size, rate, formats(one).c_str());
    print(line + printable(one.name) + "\n");
  }
  const auto n_left = static_cast<uint32_t>(report.impacts.size()) - n_shown - n_equal;
  if (n_left > 0) print(std::to_string(n_left) + " more cost less; --json lists them\n");
  print(std::to_string(n_equal) + " give A's bits on A's inputs\n");
  if (!report.is_complete) print("cut short: what was not measured is left out\n");
}

}  // namespace

int run_impact(diff::Side& a, diff::Side& b, const std::vector<diff::PromptInput>& prompts,
               const ImpactOptions& options) {
  diff::ImpactRequest request;
  for (const diff::PromptInput& prompt : prompts) {
    if (!prompt.ids.empty()) {
      request.prompts.push_back(prompt.ids);
      continue;
    }
    const pipeline::Prompt bytes =
        prompt.messages ? value_or_stop(a.pipeline().render(*prompt.messages, {}), kModelFile)
                        : pipeline::Prompt{.bytes = prompt.text};
    request.prompts.push_back(value_or_stop(a.pipeline().encode_prompt(bytes), kModelFile).ids);
  }
  request.by_op = options.by_op;
  request.cancel = &catch_interrupt();
  request.on_progress = Progress();
  const diff::ImpactReport report = value_or_stop(diff::measure_impact(a, b, request), kModelFile);
  if (options.json) {
    print_json(diff::to_json(report));
  } else {
    print_table(report, options.n_lines);
  }
  return report.is_complete ? kDone : kInterrupted;
}

}  // namespace plumbline::cli
