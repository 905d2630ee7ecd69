// Plugins of one numerics class give the same bits, whatever the number of parts, the split of the
// batch and the place of the output. The oracle is one plugin of the class (of canonical-1
// plumb.cpu.scalar, its specification), with one part and the whole batch.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "loaded_plugins.h"

namespace plumbline::test {

namespace {

constexpr const char* kCanonical = "canonical-1";

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

void expect_equal_bits(const OpRun& run, const OpRun& expected) {
  ASSERT_EQ(run.outcome.status, PLUMB_OK) << run.outcome.message;
  ASSERT_EQ(run.out.size(), expected.out.size());
  for (size_t i = 0; i < run.out.size(); ++i) {
    ASSERT_EQ(std::memcmp(&run.out[i], &expected.out[i], sizeof(float)), 0)
        << "element " << i << ": " << run.out[i] << ", expected the bits of " << expected.out[i];
  }
}

}  // namespace

TEST(EqualBits, OfOneClassForAnyPartsSplitAndPlace) {
  std::map<std::string, std::vector<const KernelsPlugin*>> classes;
  for (const KernelsPlugin& plugin : plugins()) {
    if (plugin.numerics != "fast") classes[plugin.numerics].push_back(&plugin);
  }
  for (const auto& [numerics, members] : classes) {
    size_t n_compared = 0;
    std::vector<std::unique_ptr<Rig>> rigs;
    for (const KernelsPlugin* member : members) {
      const bool is_oracle = member->id == "plumb.cpu.scalar";
      rigs.insert(is_oracle ? rigs.begin() : rigs.end(), std::make_unique<Rig>(*member));
    }
    for (const CaseFamily& family : kCaseFamilies) {
      for (const OpCase& op_case : family.make(depth())) {
        const uint32_t T = op_case.n_rows;
        OpRun expected;
        for (const auto& rig : rigs) {
          SCOPED_TRACE(rig->plugin().id + ": " + op_case.name);
          if (!rig->supports(op_case.query)) continue;
          const auto compare = [&](const char* what, uint32_t chunk, const RunPlan& plan) {
            SCOPED_TRACE(std::string(what) + " " + std::to_string(plan.n_parts) + " parts");
            const OpRun run = run_in_chunks(op_case, *rig, chunk, plan);
            if (expected.out.empty()) expected = run;
            expect_equal_bits(run, expected);
            ++n_compared;
          };
          for (uint32_t n_parts = 1; n_parts <= Rig::kWorkers; ++n_parts)
            compare("whole,", T, {0, T, n_parts});
          if (op_case.can_split && T > 1) compare("row by row,", 1, {0, T, 1});
          if (op_case.can_split && T > 3) compare("in chunks of 3,", 3, {0, T, 2});
          if (op_case.can_be_in_place) compare("in place,", T, {0, T, 3, true});
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
    std::cout << numerics << ": " << members.size() << " plugins, " << n_compared
              << " runs compared\n";
    if (numerics == kCanonical) {
      EXPECT_GE(n_compared, 3000u);
    }
  }
}

// Without a second backend the test above would compare scalar with itself.
TEST(EqualBits, AtLeastTwoCanonicalBackendsRan) {
  if (std::string(PLUMB_TESTED_PLUGINS).find("plumb.cpu.") == std::string::npos) {
    GTEST_SKIP() << "backends/cpu is not part of this build";
  }
  const auto n_canonical =
      std::count_if(plugins().begin(), plugins().end(),
                    [](const KernelsPlugin& plugin) { return plugin.numerics == kCanonical; });
  EXPECT_GE(n_canonical, 2) << "canonical-1 backends that were built and can run on this machine";
}

}  // namespace plumbline::test
