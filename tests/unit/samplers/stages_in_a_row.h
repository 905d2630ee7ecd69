// stages_in_a_row.h: stages of plumb.samplers.core run in a row on one row of logits, as the host
// would.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "plugins/samplers/core/sampler_table.h"
#include "plumb/sdk/abi.h"

namespace plumbline::test {

/// Candidates with their arrays.
class Row {
 public:
  explicit Row(std::vector<float> logits) : logits_(std::move(logits)), ids_(logits_.size()) {
    std::iota(ids_.begin(), ids_.end(), 0);
    reset();
  }

  void reset() {
    value = make_abi<plumb_candidates>();
    value.order = PLUMB_ORDER_ID;
    value.ids = ids_.data();
    value.logits = logits_.data();
    value.n = static_cast<uint32_t>(ids_.size());
    value.picked = -1;
    value.coin = value.probability = NAN;
    value.cap_edge = -1;
  }
  std::vector<int32_t> kept() const { return {value.ids, value.ids + value.n}; }
  std::vector<float> logits() const { return {value.logits, value.logits + value.n}; }
  std::vector<int32_t>& ids() { return ids_; }

  plumb_candidates value;

 private:
  std::vector<float> logits_;
  std::vector<int32_t> ids_;
};

/// What stages are told beside the logits.
struct Facts {
  uint64_t seed = 0;
  uint64_t step = 0;
  std::vector<int32_t> prompt = {};
  std::vector<int32_t> generated = {};
  std::vector<int32_t> control = {};
  std::vector<int32_t> breakers = {};
  std::vector<int32_t> allowed = {};  // empty: every id
};

/// Facts as a stage sees them.
class Context {
 public:
  Context(const Facts& facts, uint32_t n_vocab)
      : facts_(facts),
        control_bits_(bits(facts.control, n_vocab)),
        allowed_bits_(bits(facts.allowed, n_vocab)) {
    value = make_abi<plumb_sample_context>();
    value.n_vocab = n_vocab;
    value.seed = facts.seed;
    value.step = facts.step;
    value.prompt_ids = facts_.prompt.data();
    value.n_prompt_ids = facts_.prompt.size();
    value.generated_ids = facts_.generated.data();
    value.n_generated_ids = facts_.generated.size();
    value.control_bits = control_bits_.data();
    value.breaker_ids = facts_.breakers.data();
    value.n_breaker_ids = facts_.breakers.size();
    value.allowed_bits = facts_.allowed.empty() ? nullptr : allowed_bits_.data();
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  plumb_sample_context value;

 private:
  static std::vector<uint64_t> bits(const std::vector<int32_t>& ids, uint32_t n_vocab) {
    std::vector<uint64_t> bits((n_vocab + 63) / 64, 0);
    for (const int32_t id : ids) bits[static_cast<size_t>(id) / 64] |= uint64_t{1} << (id % 64);
    return bits;
  }

  Facts facts_;
  std::vector<uint64_t> control_bits_, allowed_bits_;
};

struct StageSpec {
  std::string stage;
  std::string params = "";
};

class Chain {
 public:
  Chain(const std::vector<StageSpec>& specs, uint32_t n_vocab) : n_vocab_(n_vocab) {
    for (const StageSpec& spec : specs) {
      ErrorBuffer error;
      void* self = nullptr;
      const auto status =
          table().create(nullptr, to_abi(spec.stage), to_abi(spec.params), n_vocab, &self, error);
      EXPECT_EQ(status, PLUMB_OK) << error.message();
      const uint64_t bytes = table().scratch_bytes(self);
      // Of exactly this size but for the alignment's granularity, so that a sanitizer sees a write
      // past the end.
      void* scratch = bytes == 0 ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
      stages_.push_back({self, scratch});
    }
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;
  ~Chain() {
    for (const auto& [self, scratch] : stages_) {
      table().destroy(self);
      std::free(scratch);
    }
  }

  static const plumb_sampler& table() { return samplers::core::sampler_table(); }

  plumb_status apply(Row& row, const Context& context, plumb_error* error = nullptr) const {
    for (const auto& [self, scratch] : stages_) {
      const auto status = table().apply(self, &context.value, scratch, &row.value, error);
      if (status != PLUMB_OK) return status;
    }
    return PLUMB_OK;
  }
  plumb_status apply(Row& row, const Facts& facts, plumb_error* error = nullptr) const {
    return apply(row, Context(facts, n_vocab_), error);
  }
  plumb_status apply(Row& row, uint64_t seed = 0, uint64_t step = 0,
                     plumb_error* error = nullptr) const {
    return apply(row, Facts{seed, step}, error);
  }

  void* stage(size_t index) const { return stages_[index].self; }

 private:
  struct Made {
    void* self;
    void* scratch;
  };
  uint32_t n_vocab_;
  std::vector<Made> stages_;
};

/// Runs a chain once.
inline Row run(const std::vector<StageSpec>& specs, std::vector<float> logits,
               const Facts& facts = {}) {
  const Chain chain(specs, static_cast<uint32_t>(logits.size()));
  Row row(std::move(logits));
  ErrorBuffer error;
  EXPECT_EQ(chain.apply(row, facts, error), PLUMB_OK) << error.message();
  return row;
}

}  // namespace plumbline::test
