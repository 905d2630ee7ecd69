#include <algorithm>
#include <cmath>
#include <utility>

#include "core/diff/signatures/signature.h"

namespace plumbline::diff {

Hypothesis variant(const Suspect& suspect, const std::string& does,
                   std::function<Matrix(const OpInputs& inputs)> how) {
  return {std::string(suspect.name()) + " " + does,
          [how = std::move(how)](const OpInputs& inputs, const Matrix&) { return how(inputs); }};
}

Hypothesis variant(const Suspect& suspect, const std::string& does, NormParameters how) {
  return variant(suspect, does, [&suspect, how = std::move(how)](const OpInputs& inputs) {
    return suspect.normed(inputs, how);
  });
}

Hypothesis variant(const Suspect& suspect, const std::string& does, RopeParameters how) {
  return variant(suspect, does, [&suspect, how = std::move(how)](const OpInputs& inputs) {
    return suspect.rotated(inputs, how);
  });
}

Hypothesis variant(const Suspect& suspect, const std::string& does, AttendParameters how) {
  // A softmax of larger scores has their larger absolute errors.
  const double conditioning = std::max(1.0, std::abs(how.scale / suspect.attention().scale));
  Hypothesis made =
      variant(suspect, does, [&suspect, how = std::move(how)](const OpInputs& inputs) {
        return suspect.attended(inputs, how);
      });
  made.conditioning = conditioning;
  return made;
}

Hypothesis variant(const Suspect& suspect, const std::string& does, ProductParameters how) {
  return variant(suspect, does, [&suspect, how = std::move(how)](const OpInputs& inputs) {
    return suspect.multiplied(inputs, how);
  });
}

Hypothesis variant(const Suspect& suspect, const std::string& does, WeightRows how) {
  if (suspect.kind() == PLUMB_OP_EMBED) {
    return variant(suspect, does, [how = std::move(how)](const OpInputs& inputs) {
      return embed(integers_of(inputs[0]), how);
    });
  }
  ProductParameters product = suspect.product();
  product.weight = std::move(how);
  return variant(suspect, does, std::move(product));
}

}  // namespace plumbline::diff
