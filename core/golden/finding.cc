#include "core/golden/finding.h"

#include <algorithm>

namespace plumbline::golden {

Summary summary(const std::vector<Finding>& findings) {
  Summary all;
  for (const Finding& finding : findings) {
    ++(finding.was_compared ? all.n_compared : all.n_not_compared);
    if (finding.was_compared) all.verdict = std::max(all.verdict, finding.verdict);
  }
  return all;
}

}  // namespace plumbline::golden
