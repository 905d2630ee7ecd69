#include "tests/support/made_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace plumbline::test {
namespace {

using diff::Door;
using diff::LogitErrors;
using diff::OpErrors;
using diff::PickErrors;
using diff::PromptReport;
using diff::Verdict;

constexpr int kLayers = 30;
constexpr int kFaultyLayer = 12;
constexpr uint32_t kFaultyPosition = 3;

struct OpKind {
  const char* name;
  const char* kind;
  double noise;
};
constexpr std::array<OpKind, 15> kLayerOps = {{{"attn_norm", "rms_norm", 8e-8},
                                               {"attn_q", "matmul", 4e-4},
                                               {"attn_k", "matmul", 5e-4},
                                               {"attn_v", "matmul", 4e-4},
                                               {"attn_q_rope", "rope", 0},
                                               {"attn_k_rope", "rope", 0},
                                               {"kv_append", "kv_append", 0},
                                               {"attend", "attend", 3e-7},
                                               {"attn_output", "matmul", 6e-4},
                                               {"attn_residual", "add", 2e-8},
                                               {"ffn_norm", "rms_norm", 9e-8},
                                               {"ffn_gate", "matmul", 5e-4},
                                               {"ffn_act", "activate", 1e-7},
                                               {"ffn_down", "matmul", 8e-4},
                                               {"ffn_residual", "add", 2e-8}}};

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}

  OpErrors op(const std::string& name, int layer, const OpKind& what, uint32_t first,
              uint32_t n_rows, bool is_faulty) {
    OpErrors errors;
    errors.op = name;
    errors.layer = layer;
    errors.kind = what.kind;
    errors.n_rows = n_rows;
    errors.n_values = uint64_t{n_rows} * 576;
    errors.first_position = first;
    errors.budget = 4 * what.noise;
    double squares = 0;
    for (uint32_t row = 0; row < n_rows; ++row) {
      double introduced = what.noise * spread_(random_);
      if (is_faulty && first + row >= kFaultyPosition)
        introduced = 0.4 + 0.02 * static_cast<double>((first + row) % 7);
      errors.introduced_by_row.push_back(introduced);
      carried_ = std::min(1.2, std::hypot(carried_, introduced / std::sqrt(n_rows)) * 1.003);
      errors.total_by_row.push_back(carried_ * spread_(random_));
      squares += introduced * introduced;
      if (introduced > errors.introduced_worst) {
        errors.introduced_worst = introduced;
        errors.worst_position = first + row;
      }
    }
    errors.introduced = std::sqrt(squares / n_rows);
    errors.n_bits_differ =
        errors.introduced == 0 ? 0 : errors.n_values - errors.n_values / (is_faulty ? 90 : 3);
    errors.total = carried_;
    errors.inherited = std::max(0.0, carried_ - errors.introduced);
    errors.gain = 0.97;
    if (errors.kind == "matmul")
      errors.split =
          OpErrors::Split{0.8 * errors.introduced, 0.5 * errors.introduced, 3e-8, 2e-3, 4e-3, 1e-6};
    errors.verdict = is_faulty                   ? Verdict::kWrong
                     : errors.n_bits_differ == 0 ? Verdict::kMatch
                                                 : Verdict::kDrift;
    if (is_faulty)
      errors.example =
          OpErrors::Example{kFaultyPosition, 17, kFaultyPosition, 0.8412f, -0.3391f, {}, {}, true};
    return errors;
  }

  std::vector<OpErrors> ops(uint32_t n_rows, bool is_faulty) {
    carried_ = 1e-7;
    std::vector<OpErrors> all = {op("embed", -1, {"embed", "embed", 0}, 0, n_rows, false)};
    for (int layer = 0; layer < kLayers; ++layer) {
      for (const OpKind& what : kLayerOps) {
        const bool breaks = is_faulty && layer >= kFaultyLayer &&
                            (what.kind == std::string("rope") && what.name[5] == 'q');
        all.push_back(op(std::to_string(layer) + "." + what.name, layer, what, 0, n_rows, breaks));
      }
    }
    all.push_back(op("output_norm", -1, {"", "rms_norm", 9e-8}, n_rows - 1, 1, false));
    all.push_back(op("output", -1, {"", "matmul", 7e-4}, n_rows - 1, 1, false));
    return all;
  }

  LogitErrors logits(uint32_t step, uint32_t position, double error, bool flips, Verdict verdict) {
    static const char* const kPieces[] = {" Paris",  " the",           " a",   " located", "\n",
                                          " France", " not",           " in",  " called",  " one",
                                          "</s",     " \xE2\x80\xAEx", "\xff", " city"};
    LogitErrors errors;
    errors.step = step;
    errors.position = position;
    errors.n_bits_differ = 49152;
    errors.cosine = 1 - error * error / 2;
    errors.mean_absolute = error;
    errors.mean_absolute_by_sigma = error / 2.3;
    errors.largest_absolute = 6 * error;
    errors.kl = error * error;
    errors.gap_a = flips ? 0.3 * error : 0;
    errors.gap_change = error;
    errors.noise = 4e-3;
    errors.row_noise = 8e-3;
    errors.verdict = verdict;
    std::vector<std::pair<float, float>> values;
    for (size_t i = 0; i < std::size(kPieces); ++i) {
      const auto a = static_cast<float>(17.4 - 1.7 * std::log1p(3.0 * static_cast<double>(i)));
      values.push_back({a, a + static_cast<float>(2 * error * (spread_(random_) - 1))});
    }
    if (flips) std::swap(values[0].second, values[1].second);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto rank = [&](auto member) {
        return static_cast<uint32_t>(std::ranges::count_if(
            values, [&](const auto& other) { return other.*member > values[i].*member; }));
      };
      errors.top.push_back({static_cast<int32_t>(300 + 11 * i), values[i].first, values[i].second,
                            rank(&std::pair<float, float>::first),
                            rank(&std::pair<float, float>::second), kPieces[i]});
    }
    for (const LogitErrors::Top& top : errors.top) {
      if (top.rank_a == 0) errors.top_a = top.id;
      if (top.rank_b == 0) errors.top_b = top.id;
      if (top.rank_a < 10 && top.rank_a == top.rank_b) ++errors.top_k_agree;
    }
    return errors;
  }

  PickErrors pick(const LogitErrors& logits, double coin) {
    PickErrors errors;
    errors.step = logits.step;
    errors.id_a = logits.top_a;
    errors.id_b = logits.top_b;
    errors.coin = coin;
    errors.n_kept_a = 40;
    errors.n_kept_b = 39;
    errors.n_kept_both = 38;
    errors.total_variation = std::min(1.0, 3 * logits.gap_change);
    errors.flip_probability = std::min(1.0, logits.gap_change);
    errors.draw_a = errors.draw_b = "gumbel";
    const bool differs = errors.id_a != errors.id_b;
    errors.coin_b = coin;
    errors.stages = {{.a = "temperature {\"t\":0.7}",
                      .b = "temperature {\"t\":0.7}",
                      .n_kept_a = 49152,
                      .n_kept_b = 49152},
                     {.a = "top_p {\"p\":0.9}",
                      .b = differs ? "" : "top_p {\"p\":0.9}",
                      .n_kept_a = 40,
                      .n_kept_b = 39,
                      .n_only_a = 2,
                      .n_only_b = 1,
                      .only_a = {311, 355},
                      .only_b = {388},
                      .differs = differs}};
    if (differs) errors.first_stage = "top_p {\"p\":0.9} / none";
    errors.verdict = logits.verdict;
    return errors;
  }

  double carried_ = 0;

 private:
  std::mt19937 random_;
  std::uniform_real_distribution<double> spread_{0.35, 1.6};
};

diff::ExactDoor equal(Door door, uint64_t size) {
  diff::ExactDoor exact;
  exact.door = door;
  exact.size_a = exact.size_b = size;
  exact.is_compared = true;
  return exact;
}

diff::Place place(Door door, uint64_t at, const std::string& seen_a, const std::string& seen_b) {
  diff::Place place;
  place.door = door;
  place.at = at;
  place.seen_a = seen_a;
  place.seen_b = seen_b;
  return place;
}

PromptReport prompt(Maker& maker, uint32_t index, const std::string& text, Verdict verdict) {
  PromptReport report;
  report.index = index;
  report.prompt = text;
  report.verdict = verdict;
  report.ids_a = report.ids_b = {504, 3575, 282, 4649, 314, 260, 1885, 30, 12, 77, 5, 901, 44, 7};
  report.pieces_a = report.pieces_b = {"The", " capital", " of", " France", " is",  " a",   " very",
                                       ",",   "\n",       "\t",  "  ",      "\xff", "</s>", "."};
  const auto n = static_cast<uint32_t>(report.ids_a.size());
  const bool is_faulty = verdict == Verdict::kWrong;
  report.exact = {equal(Door::kPrompt, text.size()), equal(Door::kTokens, n),
                  equal(Door::kBytes, 61), equal(Door::kText, 61)};
  report.ops = maker.ops(n, is_faulty);
  for (uint32_t step = 0; step < 16; ++step) {
    const bool flips = (step == 5 && verdict >= Verdict::kTieFlip) || (is_faulty && step > 5);
    const double error = is_faulty   ? 0.2 + 0.03 * step
                         : step == 5 ? 3e-3
                                     : 4e-4 + 1e-4 * (step % 5);
    const Verdict of_step = is_faulty ? Verdict::kUnexplained
                            : flips   ? Verdict::kTieFlip
                                      : Verdict::kDrift;
    report.logits.push_back(maker.logits(step, n - 1 + step, error, flips, of_step));
    report.picks.push_back(maker.pick(report.logits.back(), 0.0625 * (step + 0.5)));
  }
  report.text_a = " the capital of France. It is one of the largest cities in Europe.";
  report.text_b = report.text_a;
  return report;
}

diff::SideIdentity side() {
  diff::SideIdentity identity;
  identity.config = "smollm2";
  identity.model_sha256 = std::string(60, 'a') + "0123";
  identity.tokenizer = "plumb.tokenizers.hf 0.1.0, table 5f3c9a";
  identity.chat_template_sha256 = std::string(60, 'c') + "4567";
  identity.backend = "plumb.reference";
  identity.numerics = "reference-f64/1";
  identity.activations = "f32";
  identity.kv = "f32";
  identity.weights = "Q4_1";
  identity.plugins = {{"loader", "plumb.loaders.gguf 0.1.0"},
                      {"sampler", "plumb.samplers.core 0.1.0"}};
  return identity;
}

}  // namespace

diff::Report made_report() {
  Maker maker(1);
  diff::Report report;
  report.a = report.b = side();
  report.b.config = "smollm2 --swap kernels=plumb.fault </td><b>";
  report.b.backend = "plumb.fault";
  report.b.variant = "avx512_vnni";
  report.b.numerics = "canonical-1";
  report.b.activations = "q8";
  report.pair_class = "reference-f64/1 against canonical-1, q8 activations";
  report.noise_source = "noise.json, sha256 90fe1c2b";
  report.differences = {"kernels.backend: plumb.reference, plumb.fault",
                        "kernels.activations: f32, q8"};
  report.notes = {"the pair's levels were calibrated on 240 prompts"};
  report.seconds = 12.4;
  report.prompts.push_back(prompt(maker, 0, "The capital of France is", Verdict::kDrift));
  report.prompts.push_back(prompt(maker, 1, "Once upon a time", Verdict::kTieFlip));

  PromptReport wrong = prompt(maker, 2, kHostileText, Verdict::kWrong);
  wrong.place = place(Door::kOps, kFaultyPosition, "0.8412 in channel 17", "-0.3391 in channel 17");
  wrong.place->op = "12.attn_q_rope";
  wrong.place->layer = kFaultyLayer;
  wrong.cause =
      diff::Cause{"rope_pairing",
                  "B rotates neighbouring values of a head, where A rotates values half a "
                  "head apart.",
                  3.1e-8,
                  0.61,
                  {"rope_permuted_weights"},
                  *wrong.place};
  wrong.text_b =
      " the capital of capital of of <b>the</b> \xE2\x80\xAE"
      "and\x07 the\nthe";
  wrong.hints = {"the error starts at position 3 and grows with the position"};
  wrong.exact[3].verdict = Verdict::kWrong;
  wrong.exact[3].place = place(Door::kText, 16, "\"France\"", "\"capital\"");
  report.prompts.push_back(wrong);

  PromptReport tokens =
      prompt(maker, 3, "a  b\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80", Verdict::kUnexplained);
  tokens.ids_b = {504, 3575, 282, 19, 20, 314, 260, 1885, 12, 77, 5, 901, 44, 7};
  tokens.pieces_b = {"The",   " capital", " of", " Fra", "nce",  " is",  " a",
                     " very", "\n",       "\t",  "  ",   "\xff", "</s>", "."};
  tokens.exact[1].place = place(Door::kTokens, 3, "4649", "19");
  tokens.exact[1].verdict = Verdict::kWrong;
  tokens.exact[2].is_compared = false;
  tokens.exact[2].why_not = "the vocabularies differ";
  tokens.place = tokens.exact[1].place;
  tokens.ops[40].introduced_worst = std::numeric_limits<double>::infinity();
  tokens.ops[40].introduced_by_row[2] = std::numeric_limits<double>::quiet_NaN();
  tokens.ops[40].verdict = Verdict::kUnexplained;
  tokens.ops[41].budget.reset();
  tokens.n_ops_only_a = 3;
  tokens.picks[2].coin.reset();
  tokens.failure_b = "op 7.attend: a score is not finite";
  report.prompts.push_back(tokens);
  report.verdict = Verdict::kWrong;
  return report;
}

diff::Report made_match() {
  Maker maker(2);
  diff::Report report;
  report.a = report.b = side();
  report.pair_class = "canonical-1";
  report.prompts.push_back(prompt(maker, 0, "The capital of France is", Verdict::kMatch));
  PromptReport& only = report.prompts[0];
  for (OpErrors& op : only.ops) {
    op.n_bits_differ = 0;
    op.introduced = op.introduced_worst = 0;
    op.budget = 0;
    op.total = op.inherited = 0;
    op.split.reset();
    std::ranges::fill(op.introduced_by_row, 0);
    std::ranges::fill(op.total_by_row, 0);
    op.verdict = Verdict::kMatch;
  }
  for (LogitErrors& logits : only.logits) {
    logits = maker.logits(logits.step, logits.position, 0, false, Verdict::kMatch);
    logits.n_bits_differ = 0;
    logits.noise = 0;
  }
  for (PickErrors& pick : only.picks) {
    pick.total_variation = pick.flip_probability = 0;
    pick.id_b = pick.id_a;
    pick.n_kept_b = pick.n_kept_both = pick.n_kept_a;
    pick.stages.clear();
    pick.verdict = Verdict::kMatch;
  }
  return report;
}

}  // namespace plumbline::test
