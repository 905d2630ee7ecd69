// An activation function in half precision, as a table with one entry for each f16 gives it.
// ggml's GELU reads one between -10 and 10 (GGML_GELU_FP16 in ggml-cpu/vec.h).
#include <cmath>
#include <limits>

#include "core/diff/signatures/half.h"
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

constexpr double kTableEnd = 10;
// What computing the function in f32 may leave open, relative to x: negative x cancel.
constexpr double kSlack = 0x1p-22;

Matrix activated(uint32_t function, double end, const OpInputs& inputs, const Matrix& seen) {
  Matrix out = matrix_of(inputs[0]);
  for (size_t i = 0; i < out.values.size(); ++i) {
    const double x = out.values[i];
    const double factor = inputs.size() > 1 ? inputs[1].values[i] : 1.0;
    double y = activation(function, x);
    if (std::abs(x) < end) {
      y = activation(function, in_f16(x));
      y = in_f16(y, kSlack * std::abs(x), factor == 0 ? y : seen.values[i] / factor);
    }
    out.values[i] = y * factor;
  }
  return out;
}

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const uint32_t function = suspect.record().as.elementwise.function;
  const auto made = [&](const char* where, double end) -> Hypothesis {
    return {std::string(suspect.name()) + " computes the activation function in half precision" +
                where + ": x is rounded to f16, and so is f(x)",
            [=](const OpInputs& inputs, const Matrix& seen) {
              return activated(function, end, inputs, seen);
            }};
  };
  // Where no x is beyond the table both hold, and nothing is said of its ends.
  return {made("", std::numeric_limits<double>::infinity()),
          made(" between -10 and 10", kTableEnd)};
}

}  // namespace

Signature activation_half_precision() {
  return {"activation_half_precision", {PLUMB_OP_ACTIVATE}, hypotheses};
}

}  // namespace plumbline::diff::signatures
