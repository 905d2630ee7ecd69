// diagnostics.h: what is told of every transaction, done or failed. core/doc/diagnostics.md
// explains it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/pipeline_config.h"
#include "core/pipeline/error_codes.h"
#include "core/pipeline/generation.h"
#include "core/pipeline/messages.h"
#include "core/pipeline/pipeline.h"

namespace plumbline::pipeline {

struct ModelIdentity {
  std::string name;
  std::string architecture;
  std::string checksum;  // the first 64 bits of the file's SHA-256, in decimal; empty: not known
  std::string precision;  // the format of most of the weights' bytes
  uint32_t vocab_size = 0;
};
/// Of a SHA-256 in hexadecimal digits; empty of anything else.
std::string checksum_of(std::string_view sha256);
Result<ModelIdentity> identity_of(const model::ModelFile& file, std::string_view sha256);

struct Component {
  std::string role;  // "loader", "tokenizer", "template", "parser"
  std::string id;
};

/// Which kernels they are depends on the processor; what their class promises does not.
struct KernelsFacts {
  std::string id;
  std::string numerics;
};

struct GenerationFacts {
  uint64_t n_prompt_tokens = 0;
  uint64_t n_generated_tokens = 0;
  StopReason stop_reason = StopReason::kError;
  std::optional<Stop> stop;
  uint64_t used_rows = 0;
  uint32_t context_rows = 0;
  uint64_t context_utilization_bytes = 0;  // of the KV rows that are used
  uint64_t n_candidate_cap_hits = 0;
  uint64_t n_end_tokens_passed_over = 0;  // EndWatch
  double prefill_s = 0;
  double time_to_first_token_s = 0;
  double decode_s = 0;
};

/// Tokens a second of answers that took decode_s from their first tokens on, whose own times are
/// those of the prefill; 0 where nothing was timed.
double decode_speed(uint64_t n_tokens, double decode_s, uint64_t n_answers = 1);

struct KvFacts {
  config::ContextPolicy policy = config::ContextPolicy::kFull;
  uint64_t n_rows = 0;
  uint64_t n_evicted_rows = 0;  // by a ring
  uint64_t n_evicted_turns = 0;
  uint64_t n_reused_rows = 0;  // of the prompt, by its longest common prefix with what was held
};

/// Of the decoder's own sequence.
KvFacts kv_facts(const config::ContextConfig& context, const model::Decoder& decoder);

/// Filled in as a transaction proceeds, by whoever runs it; whenever it ends, what is known so far
/// is the payload.
struct Diagnostics {
  /// With a new transaction id, and where to look for failures from now on.
  Diagnostics();
  void enter(Stage next) { stage = next; }
  /// A failure of the stage that was entered last; the first one counts.
  void fail(const Error& error);
  /// One that the stage does not tell.
  void fail(ErrorCode kind, std::string_view detail);
  /// What an answer says: also whether it was cancelled. The prompt's length is the caller's to
  /// tell.
  void set_answer(const Generation& made, const model::Decoder& decoder);

  Stage stage = Stage::kConfig;
  LoadStatus load_status = LoadStatus::kIdle;
  std::string profile;  // of sampling; empty: the stages are written out
  uint64_t seed = 0;
  std::optional<ModelIdentity> model;
  std::vector<Component> components;
  std::vector<KernelsFacts> kernels;  // of each backend; the first runs what no override names
  std::optional<RoleForgery> role_forgery;  // of a rendered prompt
  std::optional<GenerationFacts> generation;
  std::optional<KvFacts> kv;
  uint64_t n_backend_copies = 0;
  ErrorCode code = ErrorCode::kOk;

  // Not the same the next time.
  std::string transaction_id;
  std::string error_detail;
  uint32_t n_threads = 0;
};

/// {"schema_version", "stable": {...}, "volatile": {...}}: the bytes of stable are the same for the
/// same config, prompt and seed, on any processor and with any number of threads.
OrderedJson diagnostics_json(const Diagnostics& diagnostics);
/// The JSON Schema of that (draft 2020-12).
std::string diagnostics_schema();

/// Counts the picks that passed over an end token although it had the largest logit: what a penalty
/// does that suppresses the end of answers.
class EndWatch {
 public:
  explicit EndWatch(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  void on_logits(std::span<const float> logits);
  void on_pick(const Pick& pick);
  uint64_t n_passed_over() const { return n_passed_over_; }

 private:
  bool is_end(int32_t id) const { return (tokenizer_.attributes(id) & PLUMB_TOKEN_END) != 0; }

  const Tokenizer& tokenizer_;
  int32_t best_ = -1;
  uint64_t n_passed_over_ = 0;
};

}  // namespace plumbline::pipeline
