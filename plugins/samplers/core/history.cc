#include "history.h"

#include <algorithm>

namespace plumbline::samplers::core {

Window::Window(std::span<const int32_t> prompt, std::span<const int32_t> generated, uint64_t last)
    : prompt_(prompt), generated_(generated) {
  if (last == 0) return;
  generated_ = generated.last(std::min<uint64_t>(last, generated.size()));
  prompt_ = prompt.last(std::min<uint64_t>(last - generated_.size(), prompt.size()));
}

Window CountingRule::window(const plumb_sample_context& context) const {
  const std::span prompt(context.prompt_ids, has_prompt ? context.n_prompt_ids : 0);
  return Window(prompt, {context.generated_ids, context.n_generated_ids}, last);
}

void CountingRule::count(const plumb_sample_context& context, uint32_t* counts) const {
  std::fill_n(counts, context.n_vocab, 0u);
  const Window seen = window(context);
  for (const std::span<const int32_t> ids : {seen.prompt(), seen.generated()}) {
    for (const int32_t id : ids) {
      if (id >= 0 && static_cast<uint32_t>(id) < context.n_vocab && may_touch(context, id))
        ++counts[id];
    }
  }
}

Result<CountingRule> read_window_rule(Parameters& parameters) {
  CountingRule rule;
  rule.has_prompt = true;
  PLUMB_ASSIGN(rule.last, parameters.count_or("last", 0, 0));
  PLUMB_ASSIGN(const std::string_view control,
               parameters.word_or("control_tokens", {"spare", "penalise"}));
  rule.spares_control = control == "spare";
  return rule;
}

Result<CountingRule> read_counting_rule(Parameters& parameters,
                                        std::initializer_list<std::string_view> words) {
  PLUMB_ASSIGN(const std::string_view count, parameters.word_or("count", words));
  PLUMB_ASSIGN(CountingRule rule, read_window_rule(parameters));
  rule.has_prompt = count == "all";
  return rule;
}

}  // namespace plumbline::samplers::core
