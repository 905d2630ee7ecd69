// noise: the level of a pair class, measured on prompts. core/doc/noise.md.
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>

#include "core/base/os/durable.h"
#include "core/cli/diff_options.h"
#include "core/cli/sides.h"
#include "core/cli/verbs.h"
#include "core/diff/noise.h"
#include "core/hash/sha256.h"

namespace plumbline::cli {
namespace {

struct NoiseVerb {
  PairOptions pair;
  std::string prompts;
  std::string half;
  std::string into;
  uint32_t n_prompts_max = 0;
  uint32_t n_tokens_max = 32;
  double headroom = 2;
};

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  char text[16] = "";
  if (gmtime_r(&now, &utc) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

// The texts of the half, of more than n_max so many at equal distances.
std::vector<std::string> texts_of(const NoiseVerb& verb) {
  const std::vector<NamedText> all = read_named_texts(verb.prompts, verb.half);
  const size_t n =
      verb.n_prompts_max == 0 ? all.size() : std::min<size_t>(verb.n_prompts_max, all.size());
  std::vector<std::string> texts;
  for (size_t i = 0; i < n; ++i) texts.push_back(all[i * all.size() / n].text);
  if (texts.empty())
    stop(kNothingDone, {PLUMB_INVALID_ARGUMENT, verb.prompts + ": there is no prompt in it"});
  return texts;
}

std::string prompts_text(const NoiseVerb& verb) {
  return std::filesystem::path(verb.prompts).filename().string() + " sha256 " +
         sha256_of(read_all(verb.prompts)) + (verb.half.empty() ? "" : ", half " + verb.half) +
         ", " + std::to_string(verb.n_tokens_max) + " ids of each at most";
}

// What this pair does, over all prompts.
diff::NoiseTable measure(const NoiseVerb& verb) {
  const std::atomic<bool>& interrupted = catch_interrupt();
  const std::string prompts = prompts_text(verb), date = today();
  Pair pair(verb.pair);
  DelayedProgress progress;
  diff::NoiseTable table;
  size_t number = 0;
  for (const std::string& text : texts_of(verb)) {
    progress("prompt " + std::to_string(++number));
    std::vector<int32_t> ids =
        value_or_stop(pair.a().pipeline().encode_prompt({.bytes = text}), kModelFile).ids;
    ids.resize(std::min<size_t>(ids.size(), verb.n_tokens_max));
    if (ids.empty()) continue;
    const diff::DiffRequest request{.prompts = {{.ids = std::move(ids)}},
                                    .n_steps = 0,
                                    .all_rows = true,
                                    .cancel = &interrupted};
    const diff::Report report =
        value_or_stop(diff::compare(pair.a(), pair.b(), request), failure_exit(pair.a(), pair.b()));
    diff::NoiseLevel level =
        value_or_stop(diff::measured_level(report, verb.headroom), kDifference);
    for (diff::NoiseRun& run : level.runs) {
      run.prompts = prompts;
      run.date = date;
    }
    table.add(level);
  }
  return table;
}

int noise(const NoiseVerb& verb) {
  const diff::NoiseTable measured = measure(verb);
  if (measured.levels().empty())
    stop(kNothingDone, {PLUMB_INVALID_ARGUMENT, "no prompt has ids, so nothing was measured"});
  print(measured.text());
  if (verb.into.empty()) return kDone;
  std::error_code ignored;
  diff::NoiseTable table;
  if (std::filesystem::exists(verb.into, ignored)) table = read_noise(verb.into);
  for (const diff::NoiseLevel& level : measured.levels()) table.add(level);
  value_or_stop(os::write_file(verb.into, table.text()), kModelFile);
  return kDone;
}

}  // namespace

void add_noise(CLI::App& app, int& exit) {
  auto verb = std::make_shared<NoiseVerb>();
  CLI::App* sub = app.add_subcommand(
      "noise", "Measure how far two arithmetics lie apart: a level for configs/diff/noise.json");
  verb->pair.add_to(*sub);
  sub->add_option("--prompts", verb->prompts, "A JSON object a line: {\"text\": ...}")->required();
  sub->add_option("--half", verb->half, "Only lines whose \"half\" is this");
  sub->add_option("--most", verb->n_prompts_max, "So many of them, spread over the file; 0: all")
      ->capture_default_str();
  sub->add_option("--tokens", verb->n_tokens_max, "Most ids of a prompt that are looked at")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  sub->add_option("--headroom", verb->headroom,
                  "The level is so many times the largest that was seen")
      ->check(CLI::Range(1.0, 100.0))
      ->capture_default_str();
  sub->add_option("--into", verb->into, "Add the level to this file, joined with what it holds");
  sub->footer(
      "The pair must be right on both sides: what is measured here is excused later.\n"
      "Example:\n"
      "  plumb noise smollm2-reference-f32 smollm2 --set kernels.activations=f32 \\\n"
      "      --prompts golden/texts/prompts.jsonl --half calibration --into noise.json");
  sub->callback([verb, &exit] { exit = noise(*verb); });
}

}  // namespace plumbline::cli
