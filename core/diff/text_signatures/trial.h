// trial.h: a hypothesis about B is proved or it is not: A's side changed in one thing must do what
// B does, on the input where they part and on probes, and plain A must not.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/diff/report.h"
#include "core/diff/text_evidence.h"

namespace plumbline::diff {

template <typename Input, typename Output>
struct TextHypothesis {
  std::string signature;
  std::string statement;  // one sentence: what B does that A does not
  /// A's side with the change; an error where A has nothing to change.
  std::function<Result<SideOf<Input, Output>>()> make;
};

/// A hypothesis that passed.
struct Proof {
  std::string signature, statement;
};

/// The one cause of what passed; the first statement of a signature is taken. Nothing if signatures
/// passed that are not declared to be the same: then the probes cannot tell them apart.
/// plain: the share of inputs on which A and B differ.
std::optional<Cause> sole_cause(const std::vector<Proof>& proofs, double plain);

template <typename Output>
bool is_same(const Output& a, const Output& b) {
  return a == b;
}
inline bool is_same(const pipeline::Encoding& a, const pipeline::Encoding& b) {
  return a.ids == b.ids;
}

template <typename Input, typename Output>
class Trial {
 public:
  /// inputs: the one where the sides part, then the probes.
  Trial(const SideOf<Input, Output>& a, const SideOf<Input, Output>& b, std::vector<Input> inputs)
      : inputs_(std::move(inputs)) {
    size_t n_differ = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      a_.push_back(outcome(a, inputs_[i]));
      b_.push_back(outcome(b, inputs_[i]));
      n_differ += agree(a_[i], b_[i]) ? 0 : 1;
    }
    plain_ = static_cast<double>(n_differ) / static_cast<double>(inputs_.size());
  }

  /// There is something to explain: both have an answer, and they differ.
  bool is_open() const { return a_[0] && b_[0] && !agree(a_[0], b_[0]); }
  /// Both have an answer to the first, and they differ somewhere.
  bool differs() const { return a_[0] && b_[0] && plain_ > 0; }
  const Output& first_a() const { return *a_[0]; }
  const Output& first_b() const { return *b_[0]; }

  std::optional<Cause> judge(const std::vector<TextHypothesis<Input, Output>>& hypotheses) const {
    std::vector<Proof> proofs;
    for (const auto& hypothesis : hypotheses) {
      const auto side = hypothesis.make();
      if (side && is_reproduced_by(*side))
        proofs.push_back({hypothesis.signature, hypothesis.statement});
    }
    return sole_cause(proofs, plain_);
  }

 private:
  // Nothing: the side refused the input.
  static std::optional<Output> outcome(const SideOf<Input, Output>& side, const Input& input) {
    auto answer = side(input);
    if (!answer) return std::nullopt;
    return *std::move(answer);
  }
  static bool agree(const std::optional<Output>& a, const std::optional<Output>& b) {
    return a && b ? is_same(*a, *b) : a.has_value() == b.has_value();
  }
  bool is_reproduced_by(const SideOf<Input, Output>& side) const {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!agree(outcome(side, inputs_[i]), b_[i])) return false;
    }
    return true;
  }

  std::vector<Input> inputs_;
  std::vector<std::optional<Output>> a_, b_;
  double plain_ = 0;
};

}  // namespace plumbline::diff
