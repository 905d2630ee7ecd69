// history.h: the ids that a penalty looks back at, and how often each stands there.
#pragma once

#include <cstdint>
#include <span>

#include "parameters.h"
#include "plumb/ext/sampler.h"
#include "plumb/sdk/id_bits.h"

namespace plumbline::samplers::core {

/// The ids of prompt and answer as one row, of which a window at the end is seen.
class Window {
 public:
  /// last: how many at most; 0: all.
  Window(std::span<const int32_t> prompt, std::span<const int32_t> generated, uint64_t last);

  uint64_t size() const { return prompt_.size() + generated_.size(); }
  /// The i-th from the end: 0 is the newest.
  int32_t from_end(uint64_t i) const {
    return i < generated_.size() ? generated_[generated_.size() - 1 - i]
                                 : prompt_[prompt_.size() - 1 - (i - generated_.size())];
  }
  std::span<const int32_t> prompt() const { return prompt_; }
  std::span<const int32_t> generated() const { return generated_; }

 private:
  std::span<const int32_t> prompt_, generated_;
};

/// What a penalty counts: the parameters `count`, `last` and `control_tokens`.
struct CountingRule {
  bool has_prompt = false;
  uint64_t last = 0;  // 0: everything
  bool spares_control = true;

  Window window(const plumb_sample_context& context) const;
  /// Whether a penalty may touch this id of the vocabulary.
  bool may_touch(const plumb_sample_context& context, int32_t id) const {
    if (!spares_control || context.control_bits == nullptr) return true;
    return !has_id(context.control_bits, id);
  }
  /// How often each id stands in the window: counts[n_vocab]. An id that may not be touched counts
  /// 0; one outside the vocabulary is not looked at.
  void count(const plumb_sample_context& context, uint32_t* counts) const;
};

/// Reads `last` and `control_tokens`.
Result<CountingRule> read_window_rule(Parameters& parameters);
/// Reads `count` too; its default is the first of the words.
Result<CountingRule> read_counting_rule(Parameters& parameters,
                                        std::initializer_list<std::string_view> words);

// Parts of the JSON Schema.
#define PLUMB_WINDOW_SCHEMA \
  R"("last": {"type": "integer", "minimum": 0, "default": 0, "description": "how many ids at the end are looked at; 0: all"}, "control_tokens": {"enum": ["spare", "penalise"], "default": "spare", "description": "penalise: control tokens too, as llama.cpp; an end token can then be suppressed"})"
#define PLUMB_COUNT_SCHEMA(words, standard)                    \
  R"("count": {"enum": [)" words R"(], "default": ")" standard \
  R"(", "description": "generated: the answer's ids; all: the prompt's too"}, )" PLUMB_WINDOW_SCHEMA

}  // namespace plumbline::samplers::core
