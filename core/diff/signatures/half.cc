#include "core/diff/signatures/half.h"

#include <algorithm>
#include <cmath>

#include "plumb/sdk/half.h"

namespace plumbline::diff {
namespace {

double rounded(double x) {
  return f16_to_f32(f32_to_f16(static_cast<float>(x)));
}

}  // namespace

double in_f16(double x, double slack, double seen) {
  const double low = rounded(x - slack), high = rounded(x + slack);
  return low < high ? std::clamp(rounded(seen), low, high) : rounded(x);
}

Hypothesis outputs_in_f16(const Suspect& suspect, const std::string& does) {
  return {std::string(suspect.name()) + " " + does,
          [&suspect](const OpInputs& inputs, const Matrix& seen) {
            Matrix out = suspect.plain(inputs);
            for (size_t t = 0; t < out.n_rows; ++t) {
              double square = 0;
              for (const double x : out.row(t)) square += x * x / static_cast<double>(out.width);
              const double slack = 0x1p-16 * std::sqrt(square);  // of the kernel's own rounding
              for (size_t i = 0; i < out.width; ++i)
                out.row(t)[i] = in_f16(out.row(t)[i], slack, seen.row(t)[i]);
            }
            return out;
          }};
}

}  // namespace plumbline::diff
