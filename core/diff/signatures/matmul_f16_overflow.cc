// Products that are kept in f16: 11 bits, and infinite from 65520 on.
#include <cmath>

#include "core/diff/signatures/signature.h"
#include "plumb/sdk/half.h"

namespace plumbline::diff::signatures {
namespace {

double in_f16(double x) {
  return f16_to_f32(f32_to_f16(static_cast<float>(x)));
}

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  return {{std::string(suspect.name()) + " keeps products in f16",
           [&suspect](const OpInputs& inputs, const Matrix& seen) {
             Matrix out = suspect.plain(inputs);
             for (size_t t = 0; t < out.n_rows; ++t) {
               double square = 0;
               for (const double x : out.row(t)) square += x * x / static_cast<double>(out.width);
               // What the kernel's own rounding leaves open.
               const double slack = 0x1p-20 * std::sqrt(square);
               for (size_t i = 0; i < out.width; ++i) {
                 double& x = out.row(t)[i];
                 const double low = in_f16(x - slack), high = in_f16(x + slack);
                 const double it = seen.row(t)[i];
                 x = low <= it && it <= high && in_f16(it) == it ? it : in_f16(x);
               }
             }
             return out;
           }}};
}

}  // namespace

Signature matmul_f16_overflow() {
  return {"matmul_f16_overflow", {PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
