// The stage near_top and the table of plumb.sampler/1.
#include <plumb/sdk/abi.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "extension.h"

namespace {

using plumbline::fail;

struct NearTop {
  float margin;
};

plumb_str stage_at(uint32_t index) {
  return plumbline::to_abi(index == 0 ? "near_top" : "");
}

plumb_str parameters_schema_at(uint32_t index) {
  return plumbline::to_abi(
      index == 0 ? R"({"type": "object", "required": ["margin"], "additionalProperties": false, )"
                   R"("properties": {"margin": {"type": "number", "minimum": 0}}})"
                 : "");
}

/// The number of {"margin": NUMBER}, 0 or more.
std::optional<double> margin_of(std::string_view json) {
  const auto skip_spaces = [&] {
    json.remove_prefix(std::min(json.find_first_not_of(' '), json.size()));
  };
  for (const std::string_view expected : {"{", "\"margin\"", ":"}) {
    skip_spaces();
    if (!json.starts_with(expected)) return std::nullopt;
    json.remove_prefix(expected.size());
  }
  skip_spaces();
  double margin = 0;
  const auto [end, problem] = std::from_chars(json.data(), json.data() + json.size(), margin);
  if (problem != std::errc() || !std::isfinite(margin) || margin < 0) return std::nullopt;
  json.remove_prefix(static_cast<size_t>(end - json.data()));
  skip_spaces();
  return json == "}" ? std::optional(margin) : std::nullopt;
}

plumb_status create(const plumb_host*, plumb_str stage, plumb_str params_json, uint32_t,
                    void** self, plumb_error* error) {
  return plumbline::guarded(error, [&] {
    if (self == nullptr)
      return fail(error, PLUMB_INVALID_ARGUMENT, "create: no place for the stage");
    if (plumbline::to_view(stage) != "near_top")
      return fail(error, PLUMB_NOT_FOUND, "the only stage here is near_top");
    const auto margin = margin_of(plumbline::to_view(params_json));
    if (!margin) {
      return fail(error, PLUMB_INVALID_CONFIG,
                  "near_top: expected {\"margin\": a number, 0 or more}");
    }
    *self = std::make_unique<NearTop>(NearTop{static_cast<float>(*margin)}).release();
    return PLUMB_OK;
  });
}

void destroy(void* self) {
  delete static_cast<NearTop*>(self);
}

uint64_t scratch_bytes(void*) {
  return 0;
}

plumb_status apply(void* self, const plumb_sample_context*, void*, plumb_candidates* candidates,
                   plumb_error* error) {
  const auto& stage = *static_cast<const NearTop*>(self);
  float largest = -std::numeric_limits<float>::infinity();
  for (uint32_t i = 0; i < candidates->n; ++i) {
    if (std::isnan(candidates->logits[i]))
      return fail(error, PLUMB_NUMERIC, "a logit is no number");
    largest = std::max(largest, candidates->logits[i]);
  }
  if (!std::isfinite(largest))
    return fail(error, PLUMB_NUMERIC, "no logit is finite, or one is infinite");
  uint32_t n = 0;
  for (uint32_t i = 0; i < candidates->n; ++i) {
    if (candidates->logits[i] < largest - stage.margin) continue;
    candidates->ids[n] = candidates->ids[i];
    candidates->logits[n++] = candidates->logits[i];
  }
  candidates->n = n;
  return PLUMB_OK;
}

constexpr plumb_sampler kTable = {
    .struct_bytes = sizeof(plumb_sampler),
    .reserved = 0,
    .stage_at = stage_at,
    .parameters_schema_at = parameters_schema_at,
    .create = create,
    .destroy = destroy,
    .scratch_bytes = scratch_bytes,
    .apply = apply,
    .state_bytes = nullptr,  // a stage with a state has all three
    .state_get = nullptr,
    .state_set = nullptr,
};

}  // namespace

const void* PLUMB_CALL extension(plumb_str id) {
  return plumbline::to_view(id) == PLUMB_EXT_SAMPLER ? &kTable : nullptr;
}

int32_t PLUMB_CALL rank() {
  return 0;
}
