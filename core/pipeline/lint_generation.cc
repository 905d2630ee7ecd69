// lint_generation.cc: rules on the context and on what ends an answer. Sources: core/doc/lint.md.
#include "core/pipeline/lint_subject.h"

namespace plumbline::pipeline {
namespace {

using config::ContextPolicy;
using nlohmann::json;

constexpr auto kNote = LintLevel::kNote;
constexpr auto kWarning = LintLevel::kWarning;

LintHit hit_at(const LintSubject& subject, const std::string& path) {
  const config::Value& value = subject.at(path);
  return {&value, path, path + " " + value.text};
}

std::vector<LintHit> large_reserve(const LintSubject& subject) {
  const config::ContextConfig& context = subject.config().context;
  const uint64_t reserve = std::min(context.reserve_output, subject.config().generation.max_tokens);
  if (!context.length || 2 * reserve <= *context.length) return {};
  return {hit_at(subject, "context.reserve_output")};
}

std::vector<LintHit> answer_above_reserve(const LintSubject& subject) {
  if (subject.config().generation.max_tokens <= subject.config().context.reserve_output) return {};
  return {hit_at(subject, "generation.max_tokens")};
}

std::vector<LintHit> ring_in_a_conversation(const LintSubject& subject) {
  const ContextPolicy policy = subject.config().context.policy;
  if (policy != ContextPolicy::kRing && policy != ContextPolicy::kSinkRing) return {};
  for (const char* path : {"template", "parser", "context.history_ids", "context.when_busy"}) {
    if (is_written(subject.at(path))) return {hit_at(subject, "context.policy")};
  }
  return {};
}

std::vector<LintHit> ignored_end(const LintSubject& subject) {
  if (!subject.config().generation.ignore_end) return {};
  return {hit_at(subject, "generation.ignore_end")};
}

/// The items of a list for which `is_bad(index)` holds.
template <typename IsBad>
void add_items(const LintSubject& subject, const std::string& path, IsBad is_bad,
               std::vector<LintHit>& hits) {
  const auto& items = subject.at(path).items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (is_bad(i)) hits.push_back({&items[i], path + "." + std::to_string(i), items[i].shown()});
  }
}

template <typename T>
auto is_among_earlier(const std::vector<T>& all) {
  return [&all](size_t i) {
    const auto end = all.begin() + static_cast<int64_t>(i);
    return std::find(all.begin(), end, all[i]) != end;
  };
}

std::vector<LintHit> duplicate_stops(const LintSubject& subject) {
  const config::GenerationConfig& generation = subject.config().generation;
  std::vector<LintHit> hits;
  add_items(subject, "generation.stop", is_among_earlier(generation.stop), hits);
  add_items(subject, "generation.stop_ids", is_among_earlier(generation.stop_ids), hits);
  add_items(subject, "generation.stop_tails", is_among_earlier(generation.stop_tails), hits);
  return hits;
}

/// A text that holds another one is never seen whole: the other ends the answer before, or with it.
std::vector<LintHit> unreachable_stops(const LintSubject& subject) {
  const config::GenerationConfig& generation = subject.config().generation;
  std::vector<LintHit> hits;
  const auto holds_another = [&](size_t i) {
    const std::string& text = generation.stop[i];
    return std::any_of(generation.stop.begin(), generation.stop.end(), [&](const auto& other) {
      return other.size() < text.size() && text.find(other) != std::string::npos;
    });
  };
  const auto holds_an_id = [&](size_t i) {
    const std::vector<int32_t>& tail = generation.stop_tails[i];
    return std::any_of(tail.begin(), tail.end(), [&](int32_t id) {
      return std::find(generation.stop_ids.begin(), generation.stop_ids.end(), id) !=
             generation.stop_ids.end();
    });
  };
  add_items(subject, "generation.stop", holds_another, hits);
  add_items(subject, "generation.stop_tails", holds_an_id, hits);
  return hits;
}

}  // namespace

std::vector<LintRule> generation_lint_rules() {
  return {
      {"large-reserve", kWarning, nullptr, large_reserve,
       "more than half of the window is kept free for the answer, and turns are dropped early",
       "a context.reserve_output of a quarter of context.length",
       "context: {length: 512, reserve_output: 300}\ngeneration: {max_tokens: 300}",
       "context: {length: 512, reserve_output: 256}\ngeneration: {max_tokens: 256}"},
      {"answer-above-reserve", kWarning, nullptr, answer_above_reserve,
       "a prompt may leave less room than the answer may need, which then ends in the middle",
       "a context.reserve_output of generation.max_tokens",
       "context: {reserve_output: 256}\ngeneration: {max_tokens: 512}",
       "context: {reserve_output: 512}\ngeneration: {max_tokens: 512}"},
      {"ring-in-a-conversation", kWarning, nullptr, ring_in_a_conversation,
       "a ring cuts inside turns and loses the system message; conversations refuse it",
       "context.policy: turn_aware", "context: {policy: ring}\ntemplate: {thinking: off}",
       "context: {policy: ring}"},
      {"ignored-end", kNote, nullptr, ignored_end,
       "the model speaks on for the user behind its own end token; it is there to measure speed",
       "leave generation.ignore_end out", "generation: {ignore_end: true}",
       "generation: {ignore_end: false}"},
      {"duplicate-stop", kWarning, nullptr, duplicate_stops, "it stands in the list already",
       "leave it out", "generation: {stop: [\"END\", \"END\"]}",
       "generation: {stop: [\"END\", \"end\"]}"},
      {"unreachable-stop", kWarning, nullptr, unreachable_stops,
       "another one of the list stands in it, and ends the answer first",
       "the shorter one alone, or two of which none holds the other",
       "generation: {stop: [\"User:\", \"\\nUser:\"]}",
       "generation: {stop: [\"\\nUser:\", \"\\nTool:\"]}"},
  };
}

}  // namespace plumbline::pipeline
