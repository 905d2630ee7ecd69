// sampler_chain.h: the stages that the config lists, applied in order to one row of logits.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plumb/ext/sampler.h"
#include "plumb/sdk/result.h"

namespace plumbline::pipeline {

/// The stages of this program that pick. Other libraries may offer more.
inline const std::initializer_list<std::string_view> kDrawStages = {"greedy", "cdf", "gumbel",
                                                                    "xorshift64", "mirostat_v2"};

/// What one draw left behind, for reports and traces.
struct Pick {
  int32_t id = -1;
  double probability = 0;  // NaN if the draw stage does not tell
  double coin = 0;  // NaN if it used none
  uint32_t n_kept = 0;  // candidates that were left
  bool cap_hit = false;  // a cap's last candidate was among them: the cap may have cut away others
};

/// What a chain is told of the pick behind these ids; all is borrowed.
plumb_sample_context sample_context(uint64_t seed, std::span<const int32_t> prompt,
                                    std::span<const int32_t> generated,
                                    std::span<const uint64_t> control_bits);

class SamplerChain {
 public:
  explicit SamplerChain(uint32_t n_vocab);
  SamplerChain(SamplerChain&& other) noexcept = default;
  SamplerChain& operator=(SamplerChain&&) = delete;
  ~SamplerChain();

  /// Appends a stage of a library. Fails INVALID_CONFIG: its parameters.
  Result<void> add(const plumb_sampler& table, const plumb_host* host, const std::string& stage,
                   const std::string& params_json);
  /// Ids over which no repeat reaches; told to the stages where a context names none of its own.
  void set_breakers(std::vector<int32_t> ids) { breaker_ids_ = std::move(ids); }
  uint32_t n_vocab() const { return static_cast<uint32_t>(ids_.size()); }
  size_t n_stages() const { return stages_.size(); }
  const std::string& stage_name(size_t index) const { return stages_[index].name; }
  const std::string& stage_params(size_t index) const { return stages_[index].params_json; }

  /// Told after each stage of a pick what it left.
  using StageSink = std::function<void(size_t stage, const plumb_candidates& left)>;
  /// Applies all stages. context.n_vocab is set here. Allocates nothing.
  /// Fails NUMERIC (names the stage), INVALID_CONFIG (the last stage picks nothing).
  Result<Pick> pick(std::span<const float> logits, plumb_sample_context context,
                    const StageSink& on_stage = {});
  /// The candidates as the last pick left them.
  const plumb_candidates& candidates() const { return candidates_; }

  /// How many picks of this chain had a cap_hit.
  uint64_t n_cap_hits() const { return n_cap_hits_; }

  /// What the stages remember from pick to pick, one after the other.
  Result<std::vector<char>> state() const;
  /// Fails INVALID_ARGUMENT: the state of other stages.
  Result<void> set_state(std::span<const char> state);
  /// Takes over what another chain remembers, where both have the stage: the first of a name from
  /// the first of that name, and so on. A stage whose like is not there, or has a state of another
  /// size, keeps its own.
  Result<void> take_over(const SamplerChain& other);

 private:
  struct Stage {
    std::string name, params_json;
    const plumb_sampler* table;
    void* self;
  };
  /// The stage of another chain that is the index-th here; null if there is none.
  const Stage* like_of(size_t index, const SamplerChain& other) const;

  std::vector<Stage> stages_;
  std::vector<int32_t> ids_;
  std::vector<float> logits_;
  std::vector<char> scratch_;
  std::vector<int32_t> breaker_ids_;
  uint64_t n_cap_hits_ = 0;
  plumb_candidates candidates_{};
};

}  // namespace plumbline::pipeline
