// Variants and plugins of one numerics class give the same bits, whatever the number of parts,
// their order, the split of the batch and the place of the output. The oracle is one variant of the
// class (of canonical-1 plumb.cpu.scalar, its specification), with one part and the whole batch.
// Across processors the oracle is the same variant there: digests.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>

#include "loaded_plugins.h"
#include "tests/support/digest_book.h"

namespace plumbline::test {

namespace {

constexpr const char* kCanonical = "canonical-1";

bool is_specification(const KernelsPlugin& plugin) {
  return plugin.id == "plumb.cpu.scalar";
}

/// The case in calls of `chunk` rows.
OpRun run_in_chunks(const OpCase& op_case, Rig& rig, uint32_t chunk, RunPlan plan) {
  OpRun all;
  for (uint32_t first = 0; first < op_case.n_rows && all.outcome.status == PLUMB_OK;
       first += chunk) {
    plan.first_row = first;
    plan.n_rows = std::min(chunk, op_case.n_rows - first);
    const OpRun some = op_case.run(rig, plan);
    all.outcome = some.outcome;
    all.out.insert(all.out.end(), some.out.begin(), some.out.end());
    rig.clear();
  }
  return all;
}

/// NaN payloads are never compared.
bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

void expect_equal_bits(const OpRun& run, const OpRun& expected) {
  ASSERT_EQ(run.outcome.status, PLUMB_OK) << run.outcome.message;
  ASSERT_EQ(run.out.size(), expected.out.size());
  for (size_t i = 0; i < run.out.size(); ++i) {
    ASSERT_TRUE(same_bits(run.out[i], expected.out[i]))
        << "element " << i << ": " << run.out[i] << ", expected the bits of " << expected.out[i];
  }
}

/// Every way to run a case, on every rig that supports it, against the first way on the first rig.
/// Returns the number of runs; first_run: what all were compared with.
size_t compare_all(const OpCase& op_case, const std::vector<std::unique_ptr<Rig>>& rigs,
                   OpRun* first_run) {
  const uint32_t T = op_case.n_rows;
  size_t n_compared = 0;
  for (const auto& rig : rigs) {
    if (!rig->supports(op_case.query)) continue;
    SCOPED_TRACE(rig->plugin().name() + ": " + op_case.name());
    const auto compare = [&](const char* what, uint32_t chunk, const RunPlan& plan) {
      SCOPED_TRACE(std::string(what) + " " + std::to_string(plan.n_parts) + " parts");
      // Threads cost more than these ops: two parts of whole batches run at once, others take
      // turns.
      rig->run_parts(plan.n_parts == 2 && chunk == T ? Rig::Parts::kTogether
                                                     : Rig::Parts::kLastFirst);
      const OpRun run = run_in_chunks(op_case, *rig, chunk, plan);
      if (first_run->out.empty()) *first_run = run;
      expect_equal_bits(run, *first_run);
      ++n_compared;
    };
    for (uint32_t n_parts = 1; n_parts <= Rig::kWorkers; ++n_parts)
      compare("whole,", T, {0, T, n_parts});
    if (op_case.can_split && T > 1) compare("row by row,", 1, {0, T, 1});
    if (op_case.can_split && T > 3) compare("in chunks of 3,", 3, {0, T, 2});
    if (op_case.can_be_in_place) compare("in place,", T, {0, T, 3, true});
    if (::testing::Test::HasFatalFailure()) break;
  }
  return n_compared;
}

}  // namespace

TEST(EqualBits, OfOneClassForAnyPartsSplitAndPlace) {
  std::map<std::string, std::vector<std::unique_ptr<Rig>>> classes;
  for (const KernelsPlugin& plugin : plugins()) {
    if (plugin.numerics == "fast") continue;
    auto& rigs = classes[plugin.numerics];
    rigs.insert(is_specification(plugin) ? rigs.begin() : rigs.end(),
                std::make_unique<Rig>(plugin));
  }
  for (const auto& [numerics, rigs] : classes) {
    size_t n_cases = 0, n_compared = 0;
    DigestBook digests;
    for (const CaseFamily& family : kCaseFamilies) {
      for (const Inputs inputs : {Inputs::kOrdinary, Inputs::kExtreme}) {
        for_each_case(family, inputs, depth(), [&](const OpCase& op_case, uint32_t draw) {
          if (HasFatalFailure()) return;
          OpRun first_run;
          n_compared += compare_all(op_case, rigs, &first_run);
          ++n_cases;
          digests.add(op_case.kind + (inputs == Inputs::kOrdinary ? "" : ", extremes") + ", draw " +
                          std::to_string(draw),
                      first_run.out);
        });
      }
    }
    if (HasFatalFailure()) return;
    std::cout << numerics << ": " << rigs.size() << " variants, " << n_cases << " cases, "
              << n_compared << " runs compared\n";
    if (numerics == kCanonical) {
      EXPECT_GE(n_compared, 5000 * depth());  // 10,000 in the check tier
      digests.settle("conformance");
    }
  }
}

// Without a second variant the test above would compare scalar with itself.
TEST(EqualBits, AtLeastTwoCanonicalVariantsRan) {
  if (std::string(PLUMB_TESTED_PLUGINS).find("plumb.cpu.") == std::string::npos) {
    GTEST_SKIP() << "backends/cpu is not part of this build";
  }
  const auto n_canonical =
      std::count_if(plugins().begin(), plugins().end(),
                    [](const KernelsPlugin& plugin) { return plugin.numerics == kCanonical; });
  EXPECT_GE(n_canonical, 2) << "canonical-1 variants that were built and can run on this machine";
}

// ctest runs this once for each variant, to name those that this machine leaves untested.
TEST(Variants, AreListed) {
  EXPECT_FALSE(kernels().runnable.empty());
}

}  // namespace plumbline::test
