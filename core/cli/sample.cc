// sample: the sampler alone.
#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/npy.h"
#include "core/cli/prompt_options.h"
#include "core/cli/session.h"
#include "core/cli/verbs.h"
#include "plumb/sdk/id_bits.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

struct SampleOptions {
  PipelineOptions pipeline;
  std::string logits_file;
  uint32_t n_draws = 1;
  bool json = false;
  // "1,2,3" each
  std::string prompt_ids;
  std::string control_ids;
  std::string breaker_ids;
  std::string allowed_ids;
};

NpyArray read_logits(const std::string& file) {
  auto parsed = parse_npy(read_all(file));
  if (!parsed) stop(kModelFile, std::move(parsed).error().at(file));
  NpyArray array = *std::move(parsed);
  if (array.shape.empty() || array.shape.size() > 2 || array.values.empty() ||
      array.shape.back() > INT32_MAX) {
    stop(kModelFile, {PLUMB_CORRUPT, file + ": expected logits of shape [V] or [T,V]"});
  }
  return array;
}

/// The ids of an option, each inside the vocabulary.
std::vector<int32_t> vocabulary_ids(const std::string& text, const std::string& option,
                                    uint64_t n_vocab) {
  std::vector<int32_t> ids = parse_ids(text, option);
  for (const int32_t id : ids) {
    if (id >= 0 && static_cast<uint64_t>(id) < n_vocab) continue;
    stop(kUsage, {PLUMB_INVALID_ARGUMENT, option + ": id " + std::to_string(id) +
                                              ", expected 0 to " + std::to_string(n_vocab - 1)});
  }
  return ids;
}

std::vector<uint64_t> bits_of(const std::vector<int32_t>& ids, uint64_t n_vocab) {
  std::vector<uint64_t> bits(id_words(n_vocab), 0);
  for (const int32_t id : ids) add_id(bits, id);
  return bits;
}

// Probabilities of the candidates that are left, for the reader's eye: the draw has its own
// arithmetic.
OrderedJson kept_set(const plumb_candidates& candidates) {
  float largest = -INFINITY;
  for (uint32_t i = 0; i < candidates.n; ++i) largest = std::max(largest, candidates.logits[i]);
  double sum = 0;
  for (uint32_t i = 0; i < candidates.n; ++i)
    sum += std::exp(static_cast<double>(candidates.logits[i] - largest));
  OrderedJson kept = OrderedJson::array();
  for (uint32_t i = 0; i < candidates.n; ++i) {
    const double weight = std::exp(static_cast<double>(candidates.logits[i] - largest));
    kept.push_back({{"id", candidates.ids[i]},
                    {"logit", candidates.logits[i]},
                    {"probability", weight / sum}});
  }
  return kept;
}

std::string json_line(uint64_t draw, const pipeline::Pick& pick, const OrderedJson& stages,
                      const plumb_candidates& left) {
  OrderedJson line{{"draw", draw}, {"id", pick.id}, {"n_kept", pick.n_kept}};
  line["probability"] =
      std::isnan(pick.probability) ? OrderedJson() : OrderedJson(pick.probability);
  line["coin"] = std::isnan(pick.coin) ? OrderedJson() : OrderedJson(pick.coin);
  line["cap_hit"] = pick.cap_hit;
  line["stages"] = stages;
  line["kept"] = kept_set(left);
  return line.dump() + "\n";
}

std::string text_line(uint64_t draw, const pipeline::Pick& pick) {
  char number[40];
  std::string line = "draw " + std::to_string(draw) + ": id " + std::to_string(pick.id) + " of " +
                     std::to_string(pick.n_kept) + " kept";
  // Not every draw has a probability or a coin.
  if (!std::isnan(pick.probability)) {
    std::snprintf(number, sizeof number, ", probability %.6g", pick.probability);
    line += number;
  }
  if (!std::isnan(pick.coin)) {
    std::snprintf(number, sizeof number, ", coin %.9g", pick.coin);
    line += number;
  }
  return line + (pick.cap_hit ? ", at the cap\n" : "\n");
}

int sample(SampleOptions& options) {
  Session session(options.pipeline);
  const config::SamplingConfig& sampling = session.config().config.sampling;
  const NpyArray array = read_logits(options.logits_file);
  const uint64_t n_vocab = array.shape.back();
  const uint64_t n_rows = array.values.size() / n_vocab;
  const auto ids_of = [&](const std::string& text, const char* option) {
    return vocabulary_ids(text, option, n_vocab);
  };
  const std::vector<int32_t> prompt = ids_of(options.prompt_ids, "--prompt-ids");
  const std::vector<uint64_t> control =
      bits_of(ids_of(options.control_ids, "--control-ids"), n_vocab);
  const std::vector<uint64_t> allowed =
      bits_of(ids_of(options.allowed_ids, "--allowed-ids"), n_vocab);
  pipeline::SamplerChain chain = value_or_stop(
      pipeline::make_sampler(sampling, session.host(), static_cast<uint32_t>(n_vocab)), kPlugin);
  chain.set_breakers(ids_of(options.breaker_ids, "--breaker-ids"));

  std::vector<int32_t> picked;
  for (uint64_t draw = 0; draw < options.n_draws; ++draw) {
    plumb_sample_context context = pipeline::sample_context(sampling.seed, prompt, picked, control);
    if (!options.allowed_ids.empty()) context.allowed_bits = allowed.data();
    const uint64_t row = std::min(draw, n_rows - 1);
    OrderedJson stages = OrderedJson::array();
    const auto note = [&](size_t stage, const plumb_candidates& left) {
      stages.push_back({{"stage", chain.stage_name(stage)}, {"n_left", left.n}});
    };
    const pipeline::Pick pick = value_or_stop(
        chain.pick({array.values.data() + row * n_vocab, n_vocab}, context, note), kModelFile);
    picked.push_back(pick.id);
    print(options.json ? json_line(draw, pick, stages, chain.candidates()) : text_line(draw, pick));
  }
  return kDone;
}

}  // namespace

void add_sample(CLI::App& app, int& exit) {
  auto options = std::make_shared<SampleOptions>();
  CLI::App* verb =
      app.add_subcommand("sample", "Run the sampler stages alone on logits from a file");
  options->pipeline.add_to(*verb);
  verb->add_option("--logits", options->logits_file,
                   "NumPy file of f32[V], or f32[T,V]: one row a draw")
      ->required();
  verb->add_option("--draws", options->n_draws, "How many draws, at steps 0, 1, ...")
      ->capture_default_str();
  verb->add_option("--prompt-ids", options->prompt_ids,
                   "1,2,3: what penalties count in front of the draws' own ids");
  verb->add_option("--control-ids", options->control_ids, "Ids that penalties spare");
  verb->add_option("--breaker-ids", options->breaker_ids, "Ids over which dry sees no repeat");
  verb->add_option("--allowed-ids", options->allowed_ids,
                   "All that the stage grammar_mask lets through");
  verb->add_flag("--json", options->json,
                 "One JSON line a draw, with the kept set and how many each stage left");
  verb->footer(
      "Examples:\n"
      "  plumb sample --logits row.npy --draws 5 --json --set 'sampling.stages=[temperature: {t: "
      "0.7}, gumbel]'\n"
      "  plumb sample --logits row.npy --prompt-ids 5,6,7,5,6 --set sampling.profile=llamacpp "
      "--set "
      "sampling.tune.dry.multiplier=0.8");
  verb->callback([options, &exit] { exit = sample(*options); });
}

}  // namespace plumbline::cli
