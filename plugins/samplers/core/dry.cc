#include <algorithm>
#include <cfloat>

#include "candidates.h"
#include "history.h"
#include "plumb/sdk/id_bits.h"
#include "plumb/sdk/math.h"
#include "stage.h"

namespace plumbline::samplers::core {
namespace {

constexpr uint64_t kMostLength = 65535;
constexpr double kLnFltMax = 88.7228391;

/// A repeat longer than this costs no more: base^exponent must stay in f32.
uint64_t most_exponent(double base) {
  const double ln_base = math::log(base);
  if (ln_base * kMostLength <= kLnFltMax) return kMostLength;
  return static_cast<uint64_t>(kLnFltMax / ln_base);
}

/// "Don't repeat yourself": an id that would make the end of the text repeat what stood there
/// before, for longer than is allowed, loses multiplier * base^(length - allowed).
/// Source: p-e-w, text-generation-webui pull request 5677; the clamp and the rule for breakers are
/// llama.cpp's.
class Dry : public Stage {
 public:
  struct Settings {
    double multiplier = 0;
    double base = 0;
    uint64_t allowed_length = 0;
    CountingRule rule;
  };

  Dry(const Settings& settings, uint32_t n_vocab)
      : settings_(settings),
        most_exponent_(most_exponent(settings.base)),
        most_length_(settings.allowed_length + most_exponent_),
        n_vocab_(n_vocab) {}

  uint64_t scratch_bytes() const override {
    const uint64_t own =
        n_words() * sizeof(uint64_t) + (n_vocab_ + most_length_) * sizeof(uint32_t);
    return std::max<uint64_t>(own, n_vocab_ * sizeof(uint64_t));  // order_by_id
  }

  plumb_status apply(const plumb_sample_context& context, void* scratch,
                     plumb_candidates& candidates, plumb_error* error) override {
    uint32_t best = 0;
    if (const auto status = find_best(candidates, &best, error); status != PLUMB_OK) return status;
    if (settings_.multiplier == 0) return PLUMB_OK;
    if (candidates.order != PLUMB_ORDER_ID)
      order_by_id(candidates, static_cast<uint64_t*>(scratch));

    auto* breakers = static_cast<uint64_t*>(scratch);
    auto* longest = reinterpret_cast<uint32_t*>(breakers + n_words());  // of each id
    std::fill_n(longest, n_vocab_, 0u);
    mark_breakers(context, breakers);
    find_repeats(context, breakers, longest, longest + n_vocab_);
    for (uint32_t i = 0; i < candidates.n; ++i) {
      const uint64_t length = longest[candidates.ids[i]];
      if (length == 0) continue;
      const uint64_t exponent = std::min(length - settings_.allowed_length, most_exponent_);
      const double penalty =
          settings_.multiplier * math::pow(settings_.base, static_cast<double>(exponent));
      candidates.logits[i] = finite_logit(candidates.logits[i] - penalty);
    }
    return PLUMB_OK;
  }

 private:
  uint64_t n_words() const { return id_words(n_vocab_); }

  bool is_in_vocabulary(int32_t id) const {
    return id >= 0 && static_cast<uint32_t>(id) < n_vocab_;
  }

  void mark_breakers(const plumb_sample_context& context, uint64_t* bits) const {
    std::fill_n(bits, n_words(), uint64_t{0});
    for (uint64_t i = 0; i < context.n_breaker_ids; ++i) {
      const int32_t id = context.breaker_ids[i];
      if (is_in_vocabulary(id)) add_id(bits, id);
    }
  }

  /// For each id the length of the longest repeat that it would continue, where that is allowed no
  /// longer. The lengths are the Z function of the text read backwards (Gusfield 1997, chapter 1):
  /// O(n) for a window of n ids. No length above the most that counts is told apart, so that z
  /// needs room for most_length_ numbers only, however long the window is.
  void find_repeats(const plumb_sample_context& context, const uint64_t* breakers,
                    uint32_t* longest, uint32_t* z) const {
    const Window window = settings_.rule.window(context);
    const uint64_t n = window.size();
    uint64_t most = 0;  // no repeat reaches back over a breaker
    while (most < std::min(n, most_length_)) {
      const int32_t id = window.from_end(most);
      if (is_in_vocabulary(id) && has_id(breakers, id)) break;
      ++most;
    }
    if (most < settings_.allowed_length) return;

    const auto extend = [&](uint64_t k, uint64_t length) {
      while (length < most && k + length < n &&
             window.from_end(length) == window.from_end(k + length))
        ++length;
      return length;
    };
    uint64_t first = 0, end = 0;  // the repeat that reaches furthest back: [first, end)
    for (uint64_t k = 1; k < n; ++k) {
      uint64_t length = k < end ? z[k - first] : 0;
      if (k >= end || length >= end - k) {
        length = extend(k, k < end ? end - k : 0);
        if (k + length > end) first = k, end = k + length;
      }
      if (k < most) z[k] = static_cast<uint32_t>(length);
      if (length < settings_.allowed_length) continue;
      const int32_t next = window.from_end(k - 1);
      if (!is_in_vocabulary(next) || has_id(breakers, next)) continue;
      if (!settings_.rule.may_touch(context, next)) continue;
      longest[next] = std::max(longest[next], static_cast<uint32_t>(length));
    }
  }

  Settings settings_;
  uint64_t most_exponent_;
  uint64_t most_length_;
  uint32_t n_vocab_;
};

Created create(Parameters& parameters, uint32_t n_vocab) {
  Dry::Settings settings;
  PLUMB_ASSIGN(settings.multiplier,
               parameters.number(
                   "multiplier", [](double x) { return x >= 0 && x <= FLT_MAX; },
                   "a number of at least 0; 0 is off"));
  PLUMB_ASSIGN(settings.base, parameters.number_or(
                                  "base", 1.75, [](double x) { return x >= 1 && x <= FLT_MAX; },
                                  "a number of at least 1"));
  PLUMB_ASSIGN(settings.allowed_length, parameters.count_or("allowed_length", 2, 1, kMostLength));
  PLUMB_ASSIGN(settings.rule, read_window_rule(parameters));
  return Created(std::make_unique<Dry>(settings, n_vocab));
}

}  // namespace

const StageKind kDry = {
    "dry",
    R"({"type": "object", "properties": {"multiplier": {"type": "number", "minimum": 0, "description": "penalty of a repeat that is just too long; 0: off"}, "base": {"type": "number", "minimum": 1, "default": 1.75, "description": "the penalty's growth with each further id"}, "allowed_length": {"type": "integer", "minimum": 1, "maximum": 65535, "default": 2, "description": "ids that may be repeated before the next one is penalised"}, )" PLUMB_WINDOW_SCHEMA
    R"(}, "required": ["multiplier"], "additionalProperties": false})",
    create};

}  // namespace plumbline::samplers::core
