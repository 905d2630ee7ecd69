// Every plugin against plumb.reference (f64), within a bound that its case derives; and what
// supports() claims, works.
#include "loaded_plugins.h"

#include <cmath>

namespace plumbline::test {

class AgainstOracle : public EachPlugin {};

TEST_P(AgainstOracle, WithinBoundAndSupportsTellsTheTruth) {
  Rig reference(oracle());
  for (const CaseFamily& family : kCaseFamilies) {
    size_t n_run = 0, n_unsupported = 0;
    for_each_case(family, Inputs::kOrdinary, depth(), [&](const OpCase& op_case, uint32_t) {
      if (HasFatalFailure()) return;
      SCOPED_TRACE(op_case.name());
      const RunPlan whole{0, op_case.n_rows};
      const OpRun expected = op_case.run(reference, whole);
      ASSERT_EQ(expected.outcome.status, PLUMB_OK) << expected.outcome.message;
      std::string reason;
      if (!rig_.supports(op_case.query, &reason)) {
        EXPECT_FALSE(reason.empty());
        ++n_unsupported;
        return;
      }
      const OpRun actual = op_case.run(rig_, whole);
      ASSERT_EQ(actual.outcome.status, PLUMB_OK) << actual.outcome.message;
      ASSERT_EQ(actual.out.size(), expected.out.size());
      const std::vector<double> bound =
          op_case.bound ? op_case.bound(expected.out) : std::vector<double>(expected.out.size());
      for (size_t i = 0; i < bound.size(); ++i) {
        const double error = std::fabs(double{actual.out[i]} - expected.out[i]);
        ASSERT_LE(error, bound[i])
            << "element " << i << ": " << actual.out[i] << ", oracle " << expected.out[i];
      }
      reference.clear();
      rig_.clear();
      ++n_run;
    });
    std::cout << GetParam() << ", " << family.name << ": " << n_run << " cases, " << n_unsupported
              << " not supported\n";
    EXPECT_GT(n_run, 0u);
  }
}

PLUMB_FOR_EACH_PLUGIN(AgainstOracle);

}  // namespace plumbline::test
