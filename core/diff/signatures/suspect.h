// suspect.h: one side of the evidence, as the question why it deviates sees it: what its op should
// do, in f64, and what it does.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diff/evidence.h"
#include "core/diff/op_evaluator.h"

namespace plumbline::diff {

/// A product as it should be: the weights and the bias, and whether x is quantised first.
struct ProductParameters {
  WeightRows weight;
  std::vector<float> bias;  // empty: none
  bool is_quantised = false;
};

/// The op's parameters are the other side's, since that one is held to be right, and its own
/// formats of weights and activations. The evidence must outlive it.
class Suspect {
 public:
  enum class Side { kA, kB };

  /// Nothing where the evidence does not hang together: an operand is missing, or has another
  /// shape than the record says, or a tensor is not in the file.
  static std::optional<Suspect> of(const OpEvidence& evidence, Side side);

  const OpEvidence& evidence() const { return *evidence_; }
  const OpInputs& inputs() const { return evidence_->inputs; }
  const plumb_op& record() const { return record_; }
  uint32_t kind() const { return record_.kind; }
  const char* name() const { return side_ == Side::kA ? "A" : "B"; }
  const OpSide& own() const { return side_ == Side::kA ? evidence_->a : evidence_->b; }
  const OpSide& other() const { return side_ == Side::kA ? evidence_->b : evidence_->a; }
  const model::HyperParameters& hyper_parameters() const;
  /// Null: there is none of that name. As the op should read it.
  const plumb_tensor* tensor(std::string_view name) const;

  // What the op should do, by kind; changed, a hypothesis of what it does.
  NormParameters norm() const;
  RopeParameters rope() const;
  AttendParameters attention() const;
  ProductParameters product() const;
  /// Tables of values, for embed and products. Null: the op reads none, or no matrix.
  const plumb_tensor* weight() const { return tensor(evidence_->info.weight); }

  /// What the op should put out; the columns() of it. inputs: narrowed or whole.
  Matrix plain(const OpInputs& inputs) const;
  // Parts of it for hypotheses.
  Matrix normed(const OpInputs& inputs, const NormParameters& how) const;
  Matrix rotated(const OpInputs& inputs, const RopeParameters& how) const;
  Matrix attended(const OpInputs& inputs, const AttendParameters& how) const;
  Matrix multiplied(const OpInputs& inputs, const ProductParameters& how) const;
  /// The largest position of the inputs of rope or attend.
  int32_t last_position() const;
  /// The rows of the cache in front of those that kv_append writes.
  Matrix cache_before() const;

  /// Outputs of a product that are looked at: all of a small one, else those that differ most and a
  /// regular choice.
  std::span<const uint32_t> columns() const { return columns_; }
  /// Inputs of the rows that are looked at, chosen like columns(): of products, and of attention,
  /// whose caches stay whole.
  OpInputs narrowed(OpInputs inputs) const;
  /// The columns() of those rows of what a real op put out.
  Matrix chosen(std::span<const float> output) const;
  /// On A's inputs, as the side put it out.
  Matrix seen() const { return chosen(own().output); }
  /// What the side's real op makes of other inputs. Nothing: it cannot be run, or failed.
  std::optional<Matrix> run(const OpInputs& inputs) const;

 private:
  Suspect(const OpEvidence& evidence, Side side) : evidence_(&evidence), side_(side) {}
  bool choose_record();
  bool has_its_inputs() const;
  void choose_rows();
  void choose_columns();

  const OpEvidence* evidence_;
  Side side_;
  plumb_op record_{};
  std::vector<uint32_t> rows_, columns_;  // empty: all
};

}  // namespace plumbline::diff
