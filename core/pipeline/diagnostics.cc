#include "core/pipeline/diagnostics.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "core/base/os/memory.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::pipeline {
namespace {

constexpr int kSchemaVersion = 1;

// A random UUID. Source  RFC 9562, section 5.4.
std::string new_uuid() {
  std::random_device random;
  uint32_t words[4] = {random(), random(), random(), random()};
  words[1] = (words[1] & 0xffff0fff) | 0x4000;
  words[2] = (words[2] & 0x3fffffff) | 0x80000000;
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%04x%08x", words[0], words[1] >> 16,
                words[1] & 0xffff, words[2] >> 16, words[2] & 0xffff, words[3]);
  return text;
}

std::string_view policy_name(config::ContextPolicy policy) {
  switch (policy) {
    case config::ContextPolicy::kTurnAware:
      return "turn_aware";
    case config::ContextPolicy::kFull:
      return "full";
    case config::ContextPolicy::kRing:
      return "ring";
    case config::ContextPolicy::kSinkRing:
      return "sink_ring";
  }
  return "";
}

// Text, or null where there is none.
OrderedJson text_or_null(std::string_view text) {
  return text.empty() ? OrderedJson() : OrderedJson(text);
}

OrderedJson identity_json(const ModelIdentity& model) {
  return {{"name", model.name},
          {"architecture", model.architecture},
          {"checksum", text_or_null(model.checksum)},
          {"precision", model.precision},
          {"vocab_size", model.vocab_size}};
}

OrderedJson generation_json(const GenerationFacts& facts) {
  OrderedJson stop;
  if (facts.stop) {
    stop = {{"kind", stop_kind_name(facts.stop->kind)},
            {"index", facts.stop->index},
            {"at", facts.stop->at}};
  }
  return {{"prompt_tokens", facts.n_prompt_tokens},
          {"generated_tokens", facts.n_generated_tokens},
          {"stop_reason", stop_reason_name(facts.stop_reason)},
          {"stop", std::move(stop)},
          {"used_rows", facts.used_rows},
          {"context_rows", facts.context_rows},
          {"context_utilization_bytes", facts.context_utilization_bytes},
          {"candidate_cap_hit", facts.n_candidate_cap_hits},
          {"end_tokens_passed_over", facts.n_end_tokens_passed_over}};
}

OrderedJson kv_json(const KvFacts& facts) {
  return {{"policy", policy_name(facts.policy)},
          {"len", facts.n_rows},
          {"evicted_rows", facts.n_evicted_rows},
          {"evicted_turns", facts.n_evicted_turns},
          {"lcp_reused", facts.n_reused_rows}};
}

OrderedJson performance_json(const GenerationFacts& facts) {
  const double generation_s =
      facts.n_generated_tokens > 0 ? facts.time_to_first_token_s + facts.decode_s : facts.prefill_s;
  return {{"prefill_ms", facts.prefill_s * 1e3},
          {"time_to_first_token_ms", facts.time_to_first_token_s * 1e3},
          {"generation_time_ms", generation_s * 1e3},
          {"tokens_per_second", decode_speed(facts.n_generated_tokens, facts.decode_s)}};
}

OrderedJson role_forgery_json(const std::optional<RoleForgery>& forgery) {
  if (!forgery) return {};
  return forgery->is_protected ? "protected" : "not protected: " + forgery->reason;
}

}  // namespace

std::string checksum_of(std::string_view sha256) {
  uint64_t bits = 0;
  if (sha256.size() != 64) return {};
  const char* const end = sha256.data() + 16;
  const auto read = std::from_chars(sha256.data(), end, bits, 16);
  return read.ec == std::errc() && read.ptr == end ? std::to_string(bits) : std::string();
}

Result<ModelIdentity> identity_of(const model::ModelFile& file, std::string_view sha256) {
  PLUMB_ASSIGN(const model::HyperParameters model, file.hyper_parameters());
  std::map<std::string_view, uint64_t> bytes;
  for (const model::ModelFile::Entry* entry : file.tensors_in_order())
    bytes[format_name(entry->tensor.format)] += entry->tensor.data.bytes;
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& one) { return one.second; });
  std::string precision = most == bytes.end() ? std::string() : std::string(most->first);
  for (char& letter : precision) letter = static_cast<char>(std::tolower(letter));
  return ModelIdentity{.name = model.name,
                       .architecture = model.architecture,
                       .checksum = checksum_of(sha256),
                       .precision = std::move(precision),
                       .vocab_size = model.n_vocab};
}

double decode_speed(uint64_t n_tokens, double decode_s, uint64_t n_answers) {
  if (decode_s <= 0 || n_tokens <= n_answers) return 0;
  return static_cast<double>(n_tokens - n_answers) / decode_s;
}

KvFacts kv_facts(const config::ContextConfig& context, const model::Decoder& decoder) {
  const model::KvWindow& window = decoder.sequence().window();
  return {.policy = context.policy,
          .n_rows = window.n_rows(),
          .n_evicted_rows = window.n_fed() - window.n_rows()};
}

Diagnostics::Diagnostics() : transaction_id(new_uuid()) {}

void Diagnostics::fail(const Error& error) {
  const bool has_no_prompt = generation && generation->n_prompt_tokens == 0;
  const FailureKind kind = failure_kind(stage, error.code, load_status);
  load_status = kind.load_status;
  fail(stage == Stage::kGeneration && has_no_prompt && kind.code == ErrorCode::kContextExceeded
           ? ErrorCode::kInvalidLength
           : kind.code,
       error.message);
}

void Diagnostics::fail(ErrorCode kind, std::string_view detail) {
  if (code != ErrorCode::kOk) return;
  code = kind;
  error_detail = detail;
}

void Diagnostics::set_answer(const Generation& made, const model::Decoder& decoder) {
  GenerationFacts& facts = generation ? *generation : generation.emplace();
  facts.n_generated_tokens = made.ids.size();
  facts.stop_reason = made.stop_reason;
  facts.stop = made.stop;
  facts.n_candidate_cap_hits = made.n_cap_hits;
  facts.used_rows = decoder.n_past();
  facts.context_rows = decoder.capacity_rows();
  facts.context_utilization_bytes = decoder.kv_bytes_per_row() * decoder.n_past();
  facts.prefill_s = made.prefill_s;
  facts.time_to_first_token_s = made.time_to_first_token_s;
  facts.decode_s = made.decode_s;
  n_backend_copies = decoder.counters().n_copies;
  if (made.stop_reason == StopReason::kCancelled)
    fail(ErrorCode::kCancelled, stable_message(ErrorCode::kCancelled));
}

OrderedJson diagnostics_json(const Diagnostics& diagnostics) {
  OrderedJson components = OrderedJson::array();
  for (const Component& component : diagnostics.components)
    components.push_back({{"role", component.role}, {"id", component.id}});
  OrderedJson numerics = OrderedJson::array(), kernels = OrderedJson::array();
  for (const KernelsFacts& one : diagnostics.kernels) {
    numerics.push_back(one.numerics);
    kernels.push_back(one.id);
  }
  const auto or_null = [](const auto& facts, const auto& json) {
    return facts ? json(*facts) : OrderedJson();
  };
  OrderedJson stable{{"model_identity", or_null(diagnostics.model, identity_json)},
                     {"pipeline_profile", text_or_null(diagnostics.profile)},
                     {"components", std::move(components)},
                     {"numerics", std::move(numerics)},
                     {"seed", diagnostics.seed},
                     {"role_forgery", role_forgery_json(diagnostics.role_forgery)},
                     {"load_stage_status", load_status_name(diagnostics.load_status)},
                     {"generation_stage", or_null(diagnostics.generation, generation_json)},
                     {"kv", or_null(diagnostics.kv, kv_json)},
                     {"backend_copies", diagnostics.n_backend_copies},
                     {"effective_loops", nullptr},
                     {"first_divergence", nullptr},
                     {"error_recovery",
                      {{"stable_message", text_or_null(stable_message(diagnostics.code))},
                       {"numeric_code", static_cast<uint32_t>(diagnostics.code)}}}};
  OrderedJson changing{{"transaction_id", diagnostics.transaction_id},
                       {"kernels", std::move(kernels)},
                       {"threads", diagnostics.n_threads},
                       {"peak_memory_bytes", os::peak_memory_bytes()},
                       {"performance_metrics", or_null(diagnostics.generation, performance_json)},
                       {"error_detail", text_or_null(diagnostics.error_detail)}};
  return {{"schema_version", kSchemaVersion},
          {"stable", std::move(stable)},
          {"volatile", std::move(changing)}};
}

void EndWatch::on_logits(std::span<const float> logits) {
  best_ = static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
}

void EndWatch::on_pick(const Pick& pick) {
  if (pick.id != best_ && best_ >= 0 && is_end(best_) && !is_end(pick.id)) ++n_passed_over_;
}

}  // namespace plumbline::pipeline
