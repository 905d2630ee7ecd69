#include "core/pipeline/sampler_chain.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "plumb/sdk/abi.h"

namespace plumbline::pipeline {
namespace {

constexpr uint64_t kScratchAlignment = 64;  // promised by plumb/ext/sampler.h

uint64_t state_bytes(const plumb_sampler& table, void* self) {
  return table.state_bytes != nullptr ? table.state_bytes(self) : 0;
}

std::string draw_stage_names() {
  std::string names;
  for (size_t at = 0; const std::string_view name : kDrawStages) {
    if (at > 0) names += at + 1 < kDrawStages.size() ? ", " : " or ";
    names += name;
    ++at;
  }
  return names;
}

/// Whether what a cap cut away may have been drawn: its last candidate is still there, and there
/// was a coin.
bool is_cap_hit(const plumb_candidates& left) {
  if (left.n_capped == 0 || std::isnan(left.coin)) return false;
  return std::find(left.ids, left.ids + left.n, left.cap_edge) != left.ids + left.n;
}

}  // namespace

plumb_sample_context sample_context(uint64_t seed, std::span<const int32_t> prompt,
                                    std::span<const int32_t> generated,
                                    std::span<const uint64_t> control_bits) {
  plumb_sample_context context{};
  context.seed = seed;
  context.step = generated.size();
  context.prompt_ids = prompt.data();
  context.n_prompt_ids = prompt.size();
  context.generated_ids = generated.data();
  context.n_generated_ids = generated.size();
  context.control_bits = control_bits.data();
  return context;
}

SamplerChain::SamplerChain(uint32_t n_vocab) : ids_(n_vocab), logits_(n_vocab) {}

SamplerChain::~SamplerChain() {
  for (const Stage& stage : stages_) stage.table->destroy(stage.self);
}

Result<void> SamplerChain::add(const plumb_sampler& table, const plumb_host* host,
                               const std::string& stage, const std::string& params_json) {
  ErrorBuffer error;
  void* self = nullptr;
  const plumb_status status = table.create(host, to_abi(stage), to_abi(params_json),
                                           static_cast<uint32_t>(ids_.size()), &self, error);
  if (status != PLUMB_OK) return error.take(status).at("sampler stage " + stage);
  stages_.push_back({stage, params_json, &table, self});
  scratch_.resize(
      std::max<uint64_t>(scratch_.size(), table.scratch_bytes(self) + kScratchAlignment));
  return {};
}

Result<Pick> SamplerChain::pick(std::span<const float> logits, plumb_sample_context context,
                                const StageSink& on_stage) {
  if (logits.size() != ids_.size()) {
    return Error{PLUMB_INVALID_ARGUMENT, "expected " + std::to_string(ids_.size()) +
                                             " logits, found " + std::to_string(logits.size())};
  }
  context.struct_bytes = sizeof context;
  context.n_vocab = static_cast<uint32_t>(ids_.size());
  if (context.breaker_ids == nullptr) {
    context.breaker_ids = breaker_ids_.data();
    context.n_breaker_ids = breaker_ids_.size();
  }
  std::memcpy(logits_.data(), logits.data(), logits.size_bytes());
  std::iota(ids_.begin(), ids_.end(), 0);
  candidates_ = make_abi<plumb_candidates>();
  candidates_.order = PLUMB_ORDER_ID;
  candidates_.ids = ids_.data();
  candidates_.logits = logits_.data();
  candidates_.n = context.n_vocab;
  candidates_.picked = -1;
  candidates_.coin = candidates_.probability = std::nan("");
  candidates_.cap_edge = -1;
  const auto address = reinterpret_cast<uintptr_t>(scratch_.data());
  void* scratch =
      scratch_.data() + (kScratchAlignment - address % kScratchAlignment) % kScratchAlignment;

  ErrorBuffer error;
  for (size_t index = 0; index < stages_.size(); ++index) {
    const Stage& stage = stages_[index];
    const plumb_status status =
        stage.table->apply(stage.self, &context, scratch, &candidates_, error);
    if (status != PLUMB_OK) return error.take(status).at("sampler stage " + stage.name);
    if (candidates_.n == 0 || candidates_.n > context.n_vocab) {
      return Error{PLUMB_INTERNAL,
                   "sampler stage " + stage.name + " left " + std::to_string(candidates_.n) +
                       " candidates, expected 1 to " + std::to_string(context.n_vocab)};
    }
    if (on_stage) on_stage(index, candidates_);
  }
  if (candidates_.picked < 0 || static_cast<uint32_t>(candidates_.picked) >= context.n_vocab) {
    return Error{PLUMB_INVALID_CONFIG,
                 "no sampler stage picked an id: end the list with " + draw_stage_names()};
  }
  const bool cap_hit = is_cap_hit(candidates_);
  n_cap_hits_ += cap_hit ? 1 : 0;
  return Pick{candidates_.picked, candidates_.probability, candidates_.coin, candidates_.n,
              cap_hit};
}

Result<std::vector<char>> SamplerChain::state() const {
  std::vector<char> all;
  ErrorBuffer error;
  for (const Stage& stage : stages_) {
    const uint64_t bytes = state_bytes(*stage.table, stage.self);
    if (bytes == 0) continue;
    all.resize(all.size() + bytes);
    const plumb_status status =
        stage.table->state_get(stage.self, all.data() + all.size() - bytes, error);
    if (status != PLUMB_OK) return error.take(status).at("sampler stage " + stage.name);
  }
  return all;
}

Result<void> SamplerChain::set_state(std::span<const char> state) {
  uint64_t expected = 0;
  for (const Stage& stage : stages_) expected += state_bytes(*stage.table, stage.self);
  if (state.size() != expected) {
    return Error{PLUMB_INVALID_ARGUMENT, "a sampler's state of " + std::to_string(state.size()) +
                                             " bytes, expected " + std::to_string(expected)};
  }
  ErrorBuffer error;
  for (const Stage& stage : stages_) {
    const uint64_t bytes = state_bytes(*stage.table, stage.self);
    if (bytes == 0) continue;
    const plumb_status status = stage.table->state_set(stage.self, state.data(), error);
    if (status != PLUMB_OK) return error.take(status).at("sampler stage " + stage.name);
    state = state.subspan(bytes);
  }
  return {};
}

const SamplerChain::Stage* SamplerChain::like_of(size_t index, const SamplerChain& other) const {
  const std::string& name = stages_[index].name;
  const auto has_name = [&](const Stage& stage) { return stage.name == name; };
  const auto end = stages_.begin() + static_cast<ptrdiff_t>(index);
  auto n_before = std::count_if(stages_.begin(), end, has_name);
  for (const Stage& stage : other.stages_) {
    if (has_name(stage) && n_before-- == 0) return &stage;
  }
  return nullptr;
}

Result<void> SamplerChain::take_over(const SamplerChain& other) {
  std::vector<char> state;
  ErrorBuffer error;
  for (size_t index = 0; index < stages_.size(); ++index) {
    const Stage& stage = stages_[index];
    const Stage* const like = like_of(index, other);
    state.resize(state_bytes(*stage.table, stage.self));
    if (like == nullptr || state.empty() || state_bytes(*like->table, like->self) != state.size())
      continue;
    plumb_status status = like->table->state_get(like->self, state.data(), error);
    if (status == PLUMB_OK) status = stage.table->state_set(stage.self, state.data(), error);
    if (status != PLUMB_OK) return error.take(status).at("sampler stage " + stage.name);
  }
  return {};
}

}  // namespace plumbline::pipeline
