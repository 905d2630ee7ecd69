// diagnostics_schema.cc: the JSON Schema of the payload.
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/pipeline/diagnostics.h"

namespace plumbline::pipeline {
namespace {

OrderedJson described(OrderedJson schema, std::string_view text) {
  schema["description"] = text;
  return schema;
}

OrderedJson typed(std::string_view type, std::string_view text) {
  return described({{"type", type}}, text);
}

OrderedJson count(std::string_view text) {
  return described({{"type", "integer"}, {"minimum", 0}}, text);
}

OrderedJson nullable(OrderedJson schema) {
  return {{"anyOf", OrderedJson::array({{{"type", "null"}}, std::move(schema)})}};
}

// All properties are there always, and no others.
OrderedJson object(OrderedJson properties) {
  OrderedJson required = OrderedJson::array();
  for (const auto& item : properties.items()) required.push_back(item.key());
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

template <typename Name, typename Enum>
OrderedJson names(Name name, Enum last) {
  OrderedJson all = OrderedJson::array();
  for (int value = 0; value <= static_cast<int>(last); ++value)
    all.push_back(name(static_cast<Enum>(value)));
  return {{"enum", std::move(all)}};
}

OrderedJson generation_schema() {
  const OrderedJson stop =
      object({{"kind", names(stop_kind_name, Stop::Kind::kTail)},
              {"index", count("Its place in the config's list.")},
              {"at", count("Byte of the answer at which it begins: where the text ends.")}});
  return object(
      {{"prompt_tokens", count("Ids of the whole prompt.")},
       {"generated_tokens", count("Ids that were picked, the one that ended the answer included.")},
       {"stop_reason",
        described(names(stop_reason_name, StopReason::kError), "Why the answer ended.")},
       {"stop", described(nullable(stop), "The stop of the config that ended it.")},
       {"used_rows", count("Rows of the KV cache that hold ids.")},
       {"context_rows", count("Rows that there are.")},
       {"context_utilization_bytes", count("Bytes of the rows that are used, over all layers.")},
       {"candidate_cap_hit", count("Picks at which the cap on candidates may have cut some away.")},
       {"end_tokens_passed_over",
        count("Picks of another id although an end token had the largest logit.")}});
}

OrderedJson stable_schema() {
  const OrderedJson identity =
      object({{"name", typed("string", "As the file calls it.")},
              {"architecture", typed("string", "As the loader calls it.")},
              {"checksum", described(nullable({{"type", "string"}, {"pattern", "^[0-9]{1,20}$"}}),
                                     "The first 64 bits of the file's SHA-256, in decimal.")},
              {"precision", typed("string", "The format of most of the weights' bytes.")},
              {"vocab_size", count("Ids that the model knows.")}});
  const OrderedJson component =
      object({{"role", typed("string", "What it does.")}, {"id", typed("string", "The plugin.")}});
  const OrderedJson kv =
      object({{"policy", {{"enum", {"turn_aware", "full", "ring", "sink_ring"}}}},
              {"len", count("Rows that hold ids.")},
              {"evicted_rows", count("Rows that a ring has dropped.")},
              {"evicted_turns", count("Turns that a conversation has dropped.")},
              {"lcp_reused", count("Rows of the prompt that did not need to run again.")}});
  const OrderedJson code{{"type", "integer"}, {"minimum", 0}, {"maximum", kErrorCodes - 1}};
  return object(
      {{"model_identity", nullable(identity)},
       {"pipeline_profile", described(nullable({{"type", "string"}}),
                                      "Of sampling; null: its stages are written out.")},
       {"components", {{"type", "array"}, {"items", component}}},
       {"numerics",
        {{"type", "array"}, {"items", typed("string", "The class of a backend's results.")}}},
       {"seed", count("Key of every coin.")},
       {"role_forgery",
        described(nullable({{"type", "string"}}),
                  "Whether strangers can forge a turn; null: nothing was rendered.")},
       {"load_stage_status", described(names(load_status_name, LoadStatus::kKvAllocationSuccess),
                                       "How far loading came.")},
       {"generation_stage", nullable(generation_schema())},
       {"kv", nullable(kv)},
       {"backend_copies", count("Copies between backends.")},
       {"effective_loops", typed("null", "Of looped models.")},
       {"first_divergence", typed("null", "Of comparisons.")},
       {"error_recovery",
        object({{"stable_message",
                 described(nullable({{"type", "string"}}), "A sentence for the code; null for 0.")},
                {"numeric_code", described(code, "core/doc/diagnostics.md lists them.")}})}});
}

OrderedJson volatile_schema() {
  const OrderedJson metrics =
      object({{"prefill_ms", typed("number", "The prompt's ids to the first logits.")},
              {"time_to_first_token_ms", typed("number", "The same with the first pick.")},
              {"generation_time_ms", typed("number", "All of it.")},
              {"tokens_per_second", typed("number", "Of the tokens behind the first.")}});
  const OrderedJson uuid{
      {"type", "string"},
      {"pattern", "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"}};
  return object(
      {{"transaction_id", uuid},
       {"kernels", {{"type", "array"}, {"items", typed("string", "The plugin of a backend.")}}},
       {"threads", count("That computed.")},
       {"peak_memory_bytes", count("The most that the process had at once.")},
       {"performance_metrics", nullable(metrics)},
       {"error_detail",
        described(nullable({{"type", "string"}}), "What was seen and expected, where.")}});
}

}  // namespace

std::string diagnostics_schema() {
  OrderedJson schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                     {"title", "Plumbline diagnostics"}};
  schema.update(object({{"schema_version", {{"const", 1}}},
                        {"stable", stable_schema()},
                        {"volatile", volatile_schema()}}));
  return schema.dump(2) + "\n";
}

}  // namespace plumbline::pipeline
