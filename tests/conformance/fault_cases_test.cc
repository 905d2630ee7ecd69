// plumb.fault on every case that kernels are asked for. Oracle: the backend that it wraps, which
// gives the same bits for all that a fault does not break, and others for what it breaks.
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "backends/fault/fault.h"
#include "op_cases.h"
#include "tests/support/fault_plugin.h"

namespace plumbline::test {
namespace {

using fault::Fault;

/// The kinds of ops that a case runs; codes are read by a product with them.
std::set<uint32_t> kinds_of(const OpCase& one) {
  std::set<uint32_t> kinds = {one.query.kind};
  if (one.query.kind == PLUMB_OP_ATTEND) kinds.insert(PLUMB_OP_KV_APPEND);
  if (one.query.kind == PLUMB_OP_MATMUL && one.query.in_format == PLUMB_ACT_Q8)
    kinds.insert(PLUMB_OP_QUANTIZE);
  if (one.query.kind == PLUMB_OP_QUANTIZE) kinds.insert(PLUMB_OP_MATMUL);
  return kinds;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y) ||
           (std::isnan(x) && std::isnan(y));
  });
}

/// A case, and what the backend inside makes of it.
struct Expected {
  OpCase op_case;
  std::vector<float> out;
};

std::vector<Expected> expected_of(Rig& inner, Inputs inputs) {
  std::vector<Expected> all;
  for (const CaseFamily& family : kCaseFamilies) {
    for_each_case(family, inputs, 1, [&](const OpCase& one, uint32_t) {
      OpRun run = one.run(inner, {0, one.n_rows, 1});
      inner.clear();
      if (run.outcome.status == PLUMB_OK) all.push_back({one, std::move(run.out)});
    });
  }
  return all;
}

class FaultCases : public testing::TestWithParam<std::string> {
 protected:
  /// What a fault makes of a case, the same in one part and in three; empty if it refuses, as it
  /// must say.
  std::vector<float> run_both_ways(Rig& rig, const OpCase& one) {
    std::string reason;
    if (!rig.supports(one.query, &reason)) {
      EXPECT_NE(reason.find(" needs "), reason.npos) << reason;
      return {};
    }
    OpRun whole;
    try {
      whole = one.run(rig, {0, one.n_rows, 1});
    } catch (const std::runtime_error& refused) {  // of a weight
      reason = refused.what();
      EXPECT_NE(reason.find(" needs weights of "), reason.npos) << reason;
      rig.clear();
      return {};
    }
    rig.clear();
    if (whole.outcome.status == PLUMB_UNSUPPORTED) {
      EXPECT_EQ(whole.outcome.message.find("fault "), 0u) << whole.outcome.message;
      EXPECT_EQ(whole.outcome.op_id, 7u);
      return {};
    }
    EXPECT_EQ(whole.outcome.status, PLUMB_OK) << whole.outcome.message;
    const OpRun parts = one.run(rig, {0, one.n_rows, 3, one.can_be_in_place});
    rig.clear();
    EXPECT_TRUE(same_bits(whole.out, parts.out)) << "in three parts";
    return whole.out;
  }
};

TEST_P(FaultCases, EachBreaksItsOpsAndNothingElse) {
  Rig inner(plugin_of_host(GetParam()));
  const std::vector<Expected> ordinary = expected_of(inner, Inputs::kOrdinary);
  const std::vector<Expected> extreme = expected_of(inner, Inputs::kExtremeFinite);
  for (const Fault* fault : fault::all_faults()) {
    Rig rig(broken(GetParam(), fault->name));
    std::set<uint32_t> changed;
    // Only subnormal numbers can be flushed.
    const auto& cases = fault->name == "denormal_flush" ? extreme : ordinary;
    for (const Expected& expected : cases) {
      const OpCase& one = expected.op_case;
      SCOPED_TRACE(std::string(fault->name) + ": " + one.name());
      const std::set<uint32_t> kinds = kinds_of(one);
      const bool is_broken = std::any_of(kinds.begin(), kinds.end(),
                                         [&](uint32_t kind) { return fault->ops.has(kind); });
      if (!is_broken) {
        const OpRun whole = one.run(rig, {0, one.n_rows, 1});
        rig.clear();
        EXPECT_TRUE(same_bits(whole.out, expected.out)) << "not what the fault is about";
      } else {
        const std::vector<float> out = run_both_ways(rig, one);
        if (!out.empty() && !same_bits(out, expected.out))
          changed.insert(kinds.begin(), kinds.end());
      }
      if (HasFailure()) return;
    }
    // No case writes rows that a cache has held before; tests/diagnosis does.
    if (fault->name == "kv_old_row_kept") continue;
    for (uint32_t kind = PLUMB_OP_EMBED; kind <= PLUMB_OP_ARGMAX; ++kind) {
      EXPECT_TRUE(!fault->ops.has(kind) || changed.contains(kind))
          << fault->name << " has broken no op of kind " << kind;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Around, FaultCases, testing::Values("plumb.cpu.scalar", "plumb.reference"),
                         [](const auto& one) {
                           return one.param == "plumb.reference" ? "reference" : "scalar";
                         });

}  // namespace
}  // namespace plumbline::test
