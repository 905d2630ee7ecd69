#include "sampler_table.h"

#include "plumb/sdk/abi.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

const StageKind* const kKinds[] = {
    &kFrequency,   &kPresence,  &kRepetition, &kDry,         &kLogitBias,
    &kGrammarMask, &kCap,       &kTopK,       &kTopP,        &kMinP,
    &kTypical,     &kTopNSigma, &kXtc,        &kTemperature, &kDynamicTemperature,
    &kGreedy,      &kCdf,       &kGumbel,     &kXorshift64,  &kMirostatV2,
    &kScripted};

plumb_str PLUMB_CALL stage_at(uint32_t index) {
  return index < std::size(kKinds) ? to_abi(kKinds[index]->name) : plumb_str{};
}
plumb_str PLUMB_CALL schema_at(uint32_t index) {
  return index < std::size(kKinds) ? to_abi(kKinds[index]->schema) : plumb_str{};
}

Created make(std::string_view name, std::string_view params_json, uint32_t n_vocab) {
  std::string names;
  for (const StageKind* kind : kKinds) {
    names += " " + std::string(kind->name);
    if (kind->name != name) continue;
    PLUMB_ASSIGN(Parameters parameters, Parameters::parse(name, params_json));
    PLUMB_ASSIGN(auto stage, kind->create(parameters, n_vocab));
    PLUMB_TRY(parameters.finish());
    return Created(std::move(stage));
  }
  return Error{PLUMB_NOT_FOUND, "stage \"" + std::string(name) + "\", expected one of" + names};
}

plumb_status PLUMB_CALL create(const plumb_host*, plumb_str stage, plumb_str params_json,
                               uint32_t n_vocab, void** self, plumb_error* error) {
  *self = nullptr;
  return guarded(error, [&]() -> plumb_status {
    if (n_vocab == 0 || n_vocab > INT32_MAX) {
      return failf(error, PLUMB_INVALID_ARGUMENT, "vocabulary of %u ids, expected 1 to 2147483647",
                   n_vocab);
    }
    auto made = make(to_view(stage), to_view(params_json), n_vocab);
    if (!made) return fail(error, made.error());
    *self = std::move(*made).release();
    return PLUMB_OK;
  });
}

void PLUMB_CALL destroy(void* self) {
  delete static_cast<Stage*>(self);
}
uint64_t PLUMB_CALL scratch_bytes(void* self) {
  return static_cast<Stage*>(self)->scratch_bytes();
}

plumb_status PLUMB_CALL apply(void* self, const plumb_sample_context* context, void* scratch,
                              plumb_candidates* candidates, plumb_error* error) {
  if (candidates->n == 0)
    return fail(error, PLUMB_INVALID_ARGUMENT, "no candidates, expected at least one");
  return static_cast<Stage*>(self)->apply(*context, scratch, *candidates, error);
}

uint64_t PLUMB_CALL state_bytes(void* self) {
  return static_cast<Stage*>(self)->state_bytes();
}
plumb_status PLUMB_CALL state_get(void* self, void* to, plumb_error*) {
  static_cast<Stage*>(self)->state_get(to);
  return PLUMB_OK;
}
plumb_status PLUMB_CALL state_set(void* self, const void* from, plumb_error* error) {
  return static_cast<Stage*>(self)->state_set(from, error);
}

constexpr plumb_sampler kTable = {
    .struct_bytes = sizeof(plumb_sampler),
    .reserved = 0,
    .stage_at = stage_at,
    .parameters_schema_at = schema_at,
    .create = create,
    .destroy = destroy,
    .scratch_bytes = scratch_bytes,
    .apply = apply,
    .state_bytes = state_bytes,
    .state_get = state_get,
    .state_set = state_set,
};

}  // namespace

const plumb_sampler& sampler_table() {
  return kTable;
}

}  // namespace plumbline::samplers::core
