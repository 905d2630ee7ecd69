// evidence.h: all that is known of one op that two sides compute differently. The engine gathers
// it; diagnose judges by it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/model/hyper_parameters.h"
#include "core/model/model_file.h"
#include "core/model/op_info.h"
#include "core/model/op_observer.h"
#include "plumb/ext/kernels.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// A matrix that an op reads or writes, and where its rows belong.
struct Rows {
  model::RowShape shape;
  std::vector<float> values;  // of the shape; ids and positions are i32 bit patterns
};

/// What an op reads beside weights, in the order of OpInfo::operands.
using OpInputs = std::vector<Rows>;

/// Runs the real op once more on inputs of the same shapes, with its own record, weights and, for
/// kv_append, the cache as it was before the op. The tables that `rope` reads stay the side's own.
/// Leaves everything as it was. Answers as OpSite::read_output does.
using RunOp = std::function<Result<std::vector<float>>(const OpInputs&)>;

/// One of the two that are compared.
struct OpSide {
  plumb_op record{};  // as it ran; of a foreign engine: the other side's
  const model::HyperParameters* hyper_parameters = nullptr;  // null: a foreign engine
  const model::ModelFile* file = nullptr;  // null: a foreign engine
  std::vector<float> output;  // on A's inputs; of kv_append the whole cache
  RunOp run;  // empty: it cannot be run again
};

struct OpEvidence {
  model::OpInfo info;  // A's; of a foreign engine: the other side's
  OpInputs inputs;  // A's
  model::RowShape output_shape;
  OpSide a, b;
  /// Largest relative error of a row between two healthy sides of this pair class, for this kind of
  /// op. Where both read the same formats it is what "reproduces" means; else, and where it is 0,
  /// that is derived from the arithmetic and the other side's own error.
  double noise = 0;
  /// Rows that the caches held when this op's forward began.
  uint32_t n_past = 0;
  /// What A's ops put out at the positions first to first + n - 1, by name; nothing where that was
  /// not recorded. May be empty.
  std::function<std::optional<Rows>(const std::string& op, uint32_t first, uint32_t n)> output_of_a;
  const std::atomic<bool>* cancel = nullptr;  // set: no further hypothesis is tried
};

}  // namespace plumbline::diff
