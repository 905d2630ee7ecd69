// plumb.samplers.fault: stages of plumb.samplers.core, one thing broken. See README.md.
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "faults.h"
#include "plumb/plumb.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/entry.h"
#include "plumb/sdk/nearest_name.h"

namespace plumbline::samplers::fault {
namespace {

constexpr std::string_view kInner = "plumb.samplers.core";

State& state_of(void* self) {
  return *static_cast<State*>(self);
}

// Stages that some fault can be in.
const std::vector<std::string_view>& stages() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> found;
    for (const Fault& fault : all_faults()) {
      for (const std::string_view stage : fault.stages) {
        if (std::ranges::find(found, stage) == found.end()) found.push_back(stage);
      }
    }
    return found;
  }();
  return all;
}

plumb_str PLUMB_CALL stage_at(uint32_t index) {
  return index < stages().size() ? to_abi(stages()[index]) : plumb_str{};
}

plumb_str PLUMB_CALL parameters_schema_at(uint32_t index) {
  if (index >= stages().size()) return {};
  return to_abi(
      R"({"type": "object", "properties": {"fault": {"type": "string", "description": "what is broken; the other parameters are those of plumb.samplers.core"}}, "required": ["fault"]})");
}

Result<const Fault*> fault_named(const std::string& name, std::string_view stage) {
  std::vector<std::string_view> names;
  for (const Fault& fault : all_faults()) {
    if (std::ranges::find(fault.stages, stage) == fault.stages.end()) continue;
    if (fault.name == name) return &fault;
    names.push_back(fault.name);
  }
  std::string expected;
  for (const std::string_view one : names)
    expected += (expected.empty() ? "" : ", ") + std::string(one);
  return Error{PLUMB_INVALID_CONFIG, "fault: no " + name + " of the stage " + std::string(stage) +
                                         ", expected one of " + expected +
                                         did_you_mean(name, names)};
}

plumb_status find_inner(const plumb_host* host, State& state, const plumb_host** inner_host,
                        plumb_error* error) {
  if (host == nullptr || !PLUMB_HAS(host, plumb_host, find_extension) ||
      host->find_extension == nullptr)
    return fail(error, PLUMB_UNSUPPORTED, "this host hands out no other plugin's table to wrap");
  const void* table = nullptr;
  const plumb_status status = host->find_extension(host->context, to_abi(PLUMB_EXT_SAMPLER),
                                                   to_abi(kInner), &table, inner_host, error);
  state.inner = static_cast<const plumb_sampler*>(table);
  return status;
}

plumb_status PLUMB_CALL create(const plumb_host* host, plumb_str stage, plumb_str params_json,
                               uint32_t n_vocab, void** self, plumb_error* error) {
  return guarded(error, [&] {
    auto params = nlohmann::json::parse(to_view(params_json), nullptr, false);
    if (!params.is_object() || !params.contains("fault") || !params["fault"].is_string()) {
      return fail(error, PLUMB_INVALID_CONFIG,
                  "expected a map with fault, one that plugins/samplers/fault/README.md lists");
    }
    auto fault = fault_named(params["fault"].get<std::string>(), to_view(stage));
    if (!fault) return fail(error, fault.error());
    params.erase("fault");
    auto state = std::make_unique<State>();
    state->fault = *fault;
    const plumb_host* inner_host = nullptr;
    plumb_status status = find_inner(host, *state, &inner_host, error);
    if (status != PLUMB_OK) return status;
    const std::string rest = params.dump();
    status = state->inner->create(inner_host, stage, to_abi(rest), n_vocab, &state->self, error);
    if (status != PLUMB_OK) return status;
    if (params.contains("p")) state->p = params["p"].get<double>();
    if (state->inner->state_bytes != nullptr) {
      state->fresh.resize(state->inner->state_bytes(state->self));
      if (!state->fresh.empty())
        status = state->inner->state_get(state->self, state->fresh.data(), error);
    }
    if (status == PLUMB_OK) *self = state.release();
    return status;
  });
}

void PLUMB_CALL destroy(void* self) {
  delete static_cast<State*>(self);
}

uint64_t PLUMB_CALL scratch_bytes(void* self) {
  return state_of(self).inner->scratch_bytes(state_of(self).self);
}

plumb_status PLUMB_CALL apply(void* self, const plumb_sample_context* context, void* scratch,
                              plumb_candidates* candidates, plumb_error* error) {
  // What the caller's structs lack is not looked at by the inner stage either.
  auto known = make_abi<plumb_sample_context>();
  std::memcpy(&known, context, std::min<size_t>(context->struct_bytes, sizeof known));
  known.struct_bytes = std::min<uint32_t>(context->struct_bytes, sizeof known);
  return state_of(self).fault->apply(state_of(self), known, scratch, *candidates, error);
}

uint64_t PLUMB_CALL state_bytes(void* self) {
  return state_of(self).fresh.size();
}
plumb_status PLUMB_CALL state_get(void* self, void* to, plumb_error* error) {
  return state_of(self).inner->state_get(state_of(self).self, to, error);
}
plumb_status PLUMB_CALL state_set(void* self, const void* from, plumb_error* error) {
  return state_of(self).inner->state_set(state_of(self).self, from, error);
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
    .state_bytes = state_bytes,
    .state_get = state_get,
    .state_set = state_set,
};

int32_t PLUMB_CALL only_by_name() {
  return PLUMB_RANK_NAMED_ONLY;
}

const void* PLUMB_CALL extension(plumb_str id) {
  return to_view(id) == PLUMB_EXT_SAMPLER ? &kTable : nullptr;
}

}  // namespace
}  // namespace plumbline::samplers::fault

PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, plumbline::samplers::fault::only_by_name,
                    plumbline::samplers::fault::extension)
