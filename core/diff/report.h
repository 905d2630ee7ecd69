// report.h: what a comparison of two pipelines found, as plain data. Every output (terminal, JSON,
// JUnit, HTML) is made from it; core/doc/diff.md tells what the numbers mean.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace plumbline::diff {

/// From best to worst; a report's verdict is the worst of its parts.
enum class Verdict {
  kMatch,  // nothing differs
  kDrift,  // numbers differ, within budget
  kTieFlip,  // within budget, and a pick differs whose gap is within the pair class's noise
  kUnexplained,  // over budget, or no budget is known, and no signature was proved
  kWrong,  // a signature was proved, an exact door differs, or bits within one numerics class
};
/// "MATCH", "DRIFT", "TIE_FLIP", "UNEXPLAINED", "WRONG".
const char* verdict_name(Verdict verdict);
inline Verdict worse(Verdict a, Verdict b) {
  return a < b ? b : a;
}

/// The doors of the corridor, in order: core/doc/diff.md.
enum class Door { kPrompt, kTokens, kOps, kLogits, kPick, kBytes, kText, kContext };
/// "00 prompt", "10 tokens", "20 ops", "30 logits", "40 pick", "50 bytes", "60 text", "70 context".
const char* door_name(Door door);

enum class Mode { kForced, kChained };
/// "forced", "chained".
const char* mode_name(Mode mode);

/// Where two runs part, as exactly as it is known.
struct Place {
  Door door = Door::kPrompt;
  std::string op;  // door 20: "3.attn_q_rope"; else empty
  int32_t layer = -1;
  /// Doors 00, 50, 60: a byte. 10: an index of the ids. 20 to 40: a position of the context. 70: a
  /// message, or a row.
  uint64_t at = 0;
  uint32_t step = 0;  // generated tokens before it; 0: inside the prompt or at the first pick
  uint64_t bytes_begin = 0, bytes_end = 0;  // door 10: of the prompt that the id stands for
  std::string seen_a,
      seen_b;  // the two values, fit for a reader: bytes quoted, numbers with digits
};

/// Of one op over all its rows. Errors are root mean squares over a row, relative to the row of A;
/// "worst" is the largest of the rows, the others are over all rows together.
struct OpErrors {
  std::string op;
  int32_t layer = -1;
  std::string kind;  // "rope"
  uint32_t n_rows = 0;
  uint64_t n_values = 0;
  uint64_t n_bits_differ = 0;  // values of B(xA) whose bits are not A's
  // Infinite where one side is no number and the other is.
  double introduced = 0;  // B(xA) - A(xA)
  double introduced_worst = 0;
  uint32_t worst_position = 0;
  std::optional<double> inherited;  // B(xB) - B(xA); absent where B ran forced only
  std::optional<double> total;  // B(xB) - A(xA)
  std::optional<double> gain;  // inherited by the outputs / total of the inputs
  /// Of introduced_worst, for the two kernels' pair class; 0: equal bits are demanded; absent: no
  /// level is known.
  std::optional<double> budget;
  /// Where the sides read other codes: how the introduced error of a row splits, relative to A's
  /// row. It is then judged by these, and the budget is the sum of the bounds.
  struct Split {
    double weights = 0, activations = 0, arithmetic = 0;
    double weights_bound = 0, activations_bound = 0;  // the formats' own round trip
    std::optional<double> arithmetic_bound;  // of both kernels; absent: no level is known
  };
  std::optional<Split> split;
  /// The value that differs most of the first row beyond the budget; else of the worst row.
  struct Example {
    uint32_t position = 0, channel = 0;
    /// A position of the forward that left it so: the row's own, or a later one that changed a row
    /// of a KV cache.
    uint32_t computed_at = 0;
    float a = 0, b = 0;  // A(xA), B(xA)
    /// Of a row of a KV cache that the two hold at other positions: which.
    std::optional<int32_t> held_at_a = {}, held_at_b = {};
    bool is_over = false;
  };
  std::optional<Example> example;
  std::vector<double> introduced_by_row;  // for heat maps: one for each position
  std::vector<double> total_by_row;
  uint32_t first_position = 0;
  Verdict verdict = Verdict::kMatch;
};

/// Door 30 of one position.
struct LogitErrors {
  uint32_t position = 0;
  uint32_t step = 0;
  uint64_t n_bits_differ = 0;
  double cosine = 1;
  double mean_absolute = 0;
  double mean_absolute_by_sigma = 0;  // sigma: standard deviation of A's row
  double largest_absolute = 0;
  double kl = 0;  // KL(softmax A || softmax B), nats
  uint32_t top_k_agree = 0;  // of the ten first of A, how many are B's at the same rank
  int32_t top_a = -1, top_b = -1;
  double gap_a = 0;  // A's logit of its first minus that of B's first, in sigma of A's row
  /// The largest change from A to B of the gap between two ids that are among the ten first of
  /// either, in sigma. What noise is a level of.
  double gap_change = 0;
  double row_change = 0;  // the same between any two ids; infinite where one side is no number
  std::optional<double> noise;  // calibrated for the pair class; 0: equal bits are demanded
  std::optional<double> row_noise;  // of row_change
  Verdict verdict = Verdict::kMatch;
  /// For plots: the ids of A's and B's largest, with both logits.
  struct Top {
    int32_t id;
    float a, b;
    uint32_t rank_a, rank_b;
    std::string piece;
  };
  std::vector<Top> top;
};

/// Both lists of stages, side by side: what was left behind one of each, or behind one of a side's
/// own. An id that was cut cannot come back, but logits may be the same again.
struct StageErrors {
  std::string a, b;  // "min_p {"p":0.05}"; empty: the side has no stage here
  uint32_t n_kept_a = 0, n_kept_b = 0;
  uint32_t n_only_a = 0, n_only_b = 0;  // of these, that the other side has cut
  std::vector<int32_t> only_a = {}, only_b = {};  // the first of them, by id
  bool differs = false;  // in ids, or in the bits of a logit
};

/// Door 40 of one step: the same logits and the same coin given to both chains.
struct PickErrors {
  uint32_t step = 0;
  int32_t id_a = -1, id_b = -1;  // under the same coin; -1: none
  std::string end_a, end_b;  // why a side picked none: a script that is over, a NUMERIC error
  std::optional<double> coin, coin_b;  // A's and B's; absent: none was used
  uint32_t n_kept_a = 0, n_kept_b = 0, n_kept_both = 0;
  double total_variation = 0;  // of the two distributions over the kept sets
  double flip_probability = 0;  // that the picks differ under one coin
  std::vector<StageErrors> stages;  // as far as both ran
  /// The stages of A and of B behind which the candidates differ first: "top_k {"k":2} / none", one
  /// if both have the same; empty: none.
  std::string first_stage;
  std::string draw_a, draw_b;  // the stages that picked: "gumbel"
  Verdict verdict = Verdict::kMatch;
};

/// An exact door.
struct ExactDoor {
  Door door = Door::kPrompt;
  uint64_t size_a = 0, size_b = 0;
  bool is_compared = false;
  std::string why_not;  // where it was not
  std::optional<Place> place;  // of the first difference
  Verdict verdict = Verdict::kMatch;
};

/// Why: a signature that was proved.
struct Cause {
  std::string signature;  // "rope_pairing"; empty: place known, cause unknown
  std::string statement;  // one sentence: what B does that A does not
  double reproduces_b = 0;  // relative error of the hypothesis against B
  double plain = 0;  // of the plain op against B
  std::vector<std::string> also;  // declared equivalents that reproduce B as well
  Place place = {};  // the difference that it explains
};

/// One prompt's comparison.
struct PromptReport {
  uint32_t index = 0;
  std::string prompt;  // as given
  std::vector<int32_t> ids_a, ids_b;
  std::vector<std::string> pieces_a, pieces_b;  // each id's bytes; empty: nobody can tell
  std::vector<ExactDoor> exact;
  std::vector<OpErrors> ops;  // in the order in which they run
  /// Ops that only one side has, or that A did not record: they were not compared.
  uint32_t n_ops_only_a = 0, n_ops_only_b = 0;
  uint64_t n_rows_not_compared = 0;  // of ops that were: rows that one side alone has
  std::vector<LogitErrors> logits;
  std::vector<PickErrors> picks;
  std::string text_a, text_b;
  std::string failure_a, failure_b;  // NUMERIC errors that ended a run: seen, and where
  /// Of the prompt's text, under each side's own ids: where the vocabularies differ.
  std::optional<double> bits_per_byte_a, bits_per_byte_b;
  /// Of the difference that the verdict is of: the first beyond budget, of a TIE_FLIP the pick or
  /// the logits that flip, of a DRIFT the first there is.
  std::optional<Place> place;
  std::optional<Cause> cause;  // the first that was proved: of `place`, or of one behind it
  std::vector<std::string> notes;  // what a reader must know of how this prompt was compared
  std::vector<std::string> hints;  // chained onset patterns
  Verdict verdict = Verdict::kMatch;
};

/// True if the prompt's cause explains its place.
bool explains_place(const PromptReport& prompt);

/// What one side was, as far as a reader needs to judge or repeat the comparison.
struct SideIdentity {
  std::string config;  // name or path
  std::string model_sha256, tokenizer, chat_template_sha256;
  std::string backend, variant, numerics;  // or the runner's engine and version
  std::string activations, kv, weights;  // "q8", "f32", "Q4_1"
  std::map<std::string, std::string> plugins;  // kind -> "id version"
  bool is_runner = false;
};

struct Report {
  SideIdentity a, b;
  Mode mode = Mode::kForced;
  std::string pair_class;
  std::string noise_source;  // the file and its hash
  std::vector<std::string> notes;  // what a reader must know of the comparison itself
  std::vector<std::string> differences;  // choices in which the resolved configs differ
  std::vector<PromptReport> prompts;
  Verdict verdict = Verdict::kMatch;
  bool is_empty = false;  // nothing was compared: exit code 3
  double seconds = 0;
};

}  // namespace plumbline::diff
