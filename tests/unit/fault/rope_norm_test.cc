// What faults of rope and norms compute. Oracle: the reference backend on the op as the fault's
// description says it; where no op says it, the formula in f64.
#include <cmath>

#include "core/model/rope_table.h"
#include "plumb/sdk/blocks.h"
#include "tests/support/fault_plugin.h"
#include "tests/support/random_tensors.h"

namespace plumbline::test {
namespace {

constexpr const char* kReference = "plumb.reference";

void expect_near(const std::vector<float>& ours, const std::vector<float>& expected, float bound) {
  ASSERT_EQ(ours.size(), expected.size());
  for (size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], expected[i], bound) << i;
}

// ---- rope

struct RopeCase {
  uint32_t pairing = PLUMB_ROPE_HALF;
  double base = 10000;
  double factor = 1;  // angles are divided by it
  uint32_t n_rotated = 16;
  float sign = 1;  // of sines
  std::vector<int32_t> positions = {0, 1, 2, 3, 100, 399};
};

constexpr uint32_t kHeads = 3, kWidth = 20, kTableRows = 512;
constexpr double kAttentionFactor = 0.75;

std::vector<float> roped(const KernelsPlugin& plugin, const RopeCase& one) {
  Rig rig(plugin);
  model::Rope rope;
  rope.base = one.base;
  rope.factor = one.factor;
  rope.scaling = one.factor == 1 ? model::Rope::Scaling::none : model::Rope::Scaling::linear;
  rope.n_rotated = one.n_rotated;
  const std::vector<float> frequencies = model::inverse_frequencies(rope, {});
  const uint64_t n = uint64_t{kTableRows} * frequencies.size();
  std::vector<float> cosines(n), sines(n);
  model::fill_rope_rows(frequencies, kAttentionFactor, 0, kTableRows, cosines.data(), sines.data());
  for (float& sine : sines) sine *= one.sign;
  const auto T = static_cast<uint32_t>(one.positions.size());
  Random random(5);
  const std::vector<float> x = random_values(random, uint64_t{T} * kHeads * kWidth);
  plumb_op op = make_op(PLUMB_OP_ROPE, T);
  op.as.rope = {.in = rig.in_out(x),
                .out = rig.room(x.size() * 4),
                .positions = rig.input(one.positions),
                .cos_table = rig.input(cosines),
                .sin_table = rig.input(sines),
                .table_rows = kTableRows,
                .n_heads = kHeads,
                .head_width = kWidth,
                .n_rotated = one.n_rotated,
                .pairing = one.pairing,
                .reserved = 0};
  const Outcome outcome = rig.execute(op, 2);
  EXPECT_EQ(outcome.status, PLUMB_OK) << outcome.message;
  return rig.values<float>(op.as.rope.out, x.size());
}

// A frequency that was learnt from the table is within two roundings of the table's own, so that
// the largest position turns at most 400 * 2^-22 further; values are below 4.
constexpr float kLearnt = 4 * 400 * 0x1p-22f;

TEST(RopeFaults, TurnByOtherAngles) {
  for (const uint32_t pairing : {PLUMB_ROPE_HALF, PLUMB_ROPE_INTERLEAVED}) {
    const auto right = plugin_of_host(kReference);
    const RopeCase as_is{.pairing = pairing};
    expect_near(roped(broken(kReference, "rope_base"), as_is),
                roped(right, {.pairing = pairing, .base = 1000}), kLearnt);
    expect_near(roped(broken(kReference, "rope_base", "100"), as_is),
                roped(right, {.pairing = pairing, .base = 1e6}), kLearnt);
    expect_near(roped(broken(kReference, "rope_linear_scaling"), as_is),
                roped(right, {.pairing = pairing, .factor = 4}), kLearnt);
    expect_near(roped(broken(kReference, "rope_position_offset", "3"), as_is),
                roped(right, {.pairing = pairing, .positions = {3, 4, 5, 6, 103, 402}}), kLearnt);
    EXPECT_EQ(roped(broken(kReference, "rope_position_restart"), as_is),
              roped(right, {.pairing = pairing, .positions = {0, 1, 0, 1, 98, 397}}));
    EXPECT_EQ(roped(broken(kReference, "rope_sign"), as_is),
              roped(right, {.pairing = pairing, .sign = -1}));
    EXPECT_EQ(roped(broken(kReference, "rope_partial"), as_is),
              roped(right, {.pairing = pairing, .n_rotated = 8}));
    EXPECT_EQ(roped(broken(kReference, "rope_pairing"), as_is),
              roped(right, {.pairing = 1 - pairing}));
  }
}

TEST(RopeFaults, LeaveACallAtPositionZeroAlone) {
  const RopeCase first{.positions = {0}};
  const std::vector<float> right = roped(plugin_of_host(kReference), first);
  for (const char* fault : {"rope_base", "rope_linear_scaling", "rope_position_offset"})
    EXPECT_EQ(roped(broken(kReference, fault), first), right) << fault;
}

// ---- norms

struct NormCase {
  uint32_t kind = PLUMB_OP_RMS_NORM;
  float epsilon = 0.5f;
  bool has_weight = true;
};

constexpr uint32_t kRows = 5, kGroups = 3, kGroupWidth = 7;

std::vector<float> norm_input() {
  Random random(6);
  return random_values(random, kRows * kGroups * kGroupWidth);
}
std::vector<float> norm_weight() {
  Random random(7);
  return random_values(random, kGroupWidth);
}

std::vector<float> normed(const KernelsPlugin& plugin, const NormCase& one) {
  Rig rig(plugin);
  const std::vector<float> x = norm_input();
  const HostTensor weight = f32_tensor({kGroupWidth}, norm_weight());
  plumb_op op = make_op(one.kind, kRows);
  op.as.norm = {.in = rig.input(x),
                .out = rig.room(x.size() * 4),
                .weight = one.has_weight ? rig.weight(weight, PLUMB_USE_VECTOR) : 0,
                .bias = 0,
                .n_groups = kGroups,
                .width = kGroupWidth,
                .epsilon = one.epsilon,
                .reserved = 0};
  const Outcome outcome = rig.execute(op, 2);
  EXPECT_EQ(outcome.status, PLUMB_OK) << outcome.message;
  return rig.values<float>(op.as.norm.out, x.size());
}

TEST(NormFaults, AreTheOpAsItWouldBeThen) {
  const auto right = plugin_of_host(kReference);
  EXPECT_EQ(normed(broken(kReference, "norm_epsilon"), {}), normed(right, {.epsilon = 5}));
  EXPECT_EQ(normed(broken(kReference, "norm_mean_subtracted"), {}),
            normed(right, {.kind = PLUMB_OP_LAYER_NORM}));
  EXPECT_EQ(normed(broken(kReference, "norm_weight_missing"), {}),
            normed(right, {.has_weight = false}));
}

/// x / divisor(mean of squares over `width` values) * (w + offset).
template <typename Divisor>
std::vector<float> formula(uint32_t width, double offset, Divisor&& divisor) {
  std::vector<float> x = norm_input();
  const std::vector<float> w = norm_weight();
  for (size_t begin = 0; begin < x.size(); begin += width) {
    double squares = 0;
    for (size_t i = begin; i < begin + width; ++i) squares += double{x[i]} * x[i];
    for (size_t i = begin; i < begin + width; ++i)
      x[i] = static_cast<float>(x[i] / divisor(squares / width) * (w[i % kGroupWidth] + offset));
  }
  return x;
}

TEST(NormFaults, AreTheFormulasThatTheySay) {
  const auto inside = [](double mean) { return std::sqrt(mean + 0.5); };
  // Values are below 32, and rounded once more than the formula.
  constexpr float kRounded = 32 * 0x1p-23f;
  expect_near(normed(broken(kReference, "norm_epsilon_outside_root"), {}),
              formula(kGroupWidth, 0, [](double mean) { return std::sqrt(mean) + 0.5; }), kRounded);
  expect_near(normed(broken(kReference, "norm_weight_plus_one"), {}),
              formula(kGroupWidth, 1, inside), kRounded);
  expect_near(normed(broken(kReference, "norm_whole_row"), {}),
              formula(kGroups * kGroupWidth, 0, inside), kRounded);
}

TEST(NormFaults, TheRowBeforeIsOfTheSameBuffer) {
  const std::vector<float> rows = norm_input();
  const uint64_t width = kGroups * kGroupWidth;
  const auto last_rows = [&](const KernelsPlugin& plugin, uint32_t first, uint32_t n) {
    Rig rig(plugin);
    plumb_op op = make_op(PLUMB_OP_RMS_NORM, n);
    op.as.norm = {.in = rig.input(rows),
                  .out = rig.room(n * width * 4),
                  .weight = 0,
                  .bias = 0,
                  .n_groups = kGroups,
                  .width = kGroupWidth,
                  .epsilon = 0,
                  .reserved = 0};
    op.as.norm.in.offset_bytes += first * width * 4;
    EXPECT_EQ(rig.execute(op).status, PLUMB_OK);
    return rig.values<float>(op.as.norm.out, n * width);
  };
  EXPECT_EQ(last_rows(broken(kReference, "logits_row_off_by_one"), 4, 1),
            last_rows(plugin_of_host(kReference), 3, 1));
  EXPECT_EQ(last_rows(broken(kReference, "logits_row_off_by_one"), 1, 3),
            last_rows(plugin_of_host(kReference), 0, 3));
}

}  // namespace
}  // namespace plumbline::test
