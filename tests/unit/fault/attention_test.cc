// What faults of attention and of the cache compute. Oracle: attention as written, in f64, with the
// mask and the heads that the fault's description says.
#include <cmath>
#include <functional>

#include "tests/support/fault_plugin.h"
#include "tests/support/random_tensors.h"

namespace plumbline::test {
namespace {

constexpr const char* kReference = "plumb.reference";
constexpr uint32_t T = 4, H = 6, K = 3, C = 5, S = 9;

struct AttendCase {
  uint32_t mask = PLUMB_MASK_CAUSAL;
  uint32_t window = 0;
  float scale = 0.5f;
  float softcap = 0;
  uint32_t first_query = S - T;  // its position
};

std::vector<float> drawn(uint32_t seed, uint64_t n) {
  Random random(seed);
  return random_values(random, n);
}

std::vector<int32_t> counted(uint32_t first, uint32_t n) {
  std::vector<int32_t> all(n);
  std::iota(all.begin(), all.end(), static_cast<int32_t>(first));
  return all;
}

void append(Rig& rig, plumb_handle kv, uint32_t first, uint32_t n) {
  plumb_op op = make_op(PLUMB_OP_KV_APPEND, n);
  op.as.kv_append = {.kv = kv,
                     .k = rig.input(drawn(1, S * K * C)),
                     .v = rig.input(drawn(2, S * K * C)),
                     .positions = rig.input(counted(first, n)),
                     .first_row = first,
                     .reserved = 0};
  op.as.kv_append.k.offset_bytes += first * K * C * 4;
  op.as.kv_append.v.offset_bytes += first * K * C * 4;
  const Outcome outcome = rig.execute(op, 2);
  EXPECT_EQ(outcome.status, PLUMB_OK) << outcome.message;
}

plumb_op attend_op(Rig& rig, const AttendCase& one) {
  const plumb_handle kv = rig.kv(S + 1, K, C);
  append(rig, kv, 0, S);
  plumb_op op = make_op(PLUMB_OP_ATTEND, T);
  op.as.attend = {.kv = kv,
                  .q = rig.input(drawn(3, T * H * C)),
                  .out = rig.room(T * H * C * 4),
                  .positions = rig.input(counted(one.first_query, T)),
                  .bitmap = {},
                  .n_rows_kv = S,
                  .first_row = 0,
                  .n_heads = H,
                  .mask = one.mask,
                  .window = one.window,
                  .scale = one.scale,
                  .softcap = one.softcap,
                  .reserved = 0};
  return op;
}

std::vector<float> attended(const KernelsPlugin& plugin, const AttendCase& one) {
  Rig rig(plugin);
  const plumb_op op = attend_op(rig, one);
  const Outcome outcome = rig.execute(op, 3);
  EXPECT_EQ(outcome.status, PLUMB_OK) << outcome.message;
  return rig.values<float>(op.as.attend.out, T * H * C);
}

std::vector<float> as_written(const AttendCase& one,
                              const std::function<uint32_t(uint32_t)>& kv_head,
                              const std::function<bool(int64_t query, int64_t key)>& sees) {
  const std::vector<float> k = drawn(1, S * K * C), v = drawn(2, S * K * C),
                           q = drawn(3, T * H * C);
  std::vector<float> out;
  for (uint32_t t = 0; t < T; ++t) {
    for (uint32_t h = 0; h < H; ++h) {
      double total = 0;
      std::vector<double> sums(C);
      for (uint32_t s = 0; s < S; ++s) {
        if (!sees(one.first_query + t, s)) continue;
        const uint32_t row = (s * K + kv_head(h)) * C;
        double score = 0;
        for (uint32_t c = 0; c < C; ++c) score += double{q[(t * H + h) * C + c]} * k[row + c];
        const double weight = std::exp(score * one.scale);
        total += weight;
        for (uint32_t c = 0; c < C; ++c) sums[c] += weight * v[row + c];
      }
      for (const double sum : sums) out.push_back(static_cast<float>(sum / total));
    }
  }
  return out;
}

uint32_t right_head(uint32_t h) {
  return h / (H / K);
}

// Values are averages of some below 4; without the maximum taken off, the exponential's relative
// error grows with the score, below 100.
void expect_near(const std::vector<float>& ours, const std::vector<float>& expected) {
  ASSERT_EQ(ours.size(), expected.size());
  for (size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], expected[i], 4 * 0x1p-23f) << i;
}

TEST(AttentionFaults, HeadsAreMappedByRemainder) {
  expect_near(attended(broken(kReference, "gqa_head_mapping"), {}),
              as_written(
                  {}, [](uint32_t h) { return h % K; },
                  [](int64_t query, int64_t key) { return key <= query; }));
}

TEST(AttentionFaults, MasksAreOffByOne) {
  for (const uint32_t first_query : {S - T, 0u}) {
    const AttendCase causal{.first_query = first_query};
    expect_near(attended(broken(kReference, "mask_off_by_one_strict"), causal),
                as_written(causal, right_head, [](int64_t query, int64_t key) {
                  return key < query || (query == 0 && key == 0);
                }));
    expect_near(attended(broken(kReference, "mask_off_by_one_future"), causal),
                as_written(causal, right_head,
                           [](int64_t query, int64_t key) { return key <= query + 1; }));
    const AttendCase sliding{.mask = PLUMB_MASK_WINDOW, .window = 3, .first_query = first_query};
    expect_near(attended(broken(kReference, "mask_off_by_one_strict"), sliding),
                as_written(sliding, right_head, [](int64_t query, int64_t key) {
                  return (key < query && query - key < 3) || (query == 0 && key == 0);
                }));
    expect_near(attended(broken(kReference, "mask_off_by_one_future"), sliding),
                as_written(sliding, right_head, [](int64_t query, int64_t key) {
                  return key <= query + 1 && query - key < 3;
                }));
  }
}

TEST(AttentionFaults, AreTheOpAsItWouldBeThen) {
  const auto right = plugin_of_host(kReference);
  const AttendCase sliding{.mask = PLUMB_MASK_WINDOW, .window = 3};
  EXPECT_EQ(attended(broken(kReference, "window_off_by_one"), sliding),
            attended(right, {.mask = PLUMB_MASK_WINDOW, .window = 4}));
  EXPECT_EQ(attended(broken(kReference, "window_off_by_one", "-1"), sliding),
            attended(right, {.mask = PLUMB_MASK_WINDOW, .window = 2}));
  EXPECT_EQ(attended(broken(kReference, "window_missing"), sliding), attended(right, {}));
  EXPECT_EQ(attended(broken(kReference, "attention_scale_missing"), {}),
            attended(right, {.scale = 1}));
  EXPECT_EQ(attended(broken(kReference, "attention_scale_wrong"), {}),
            attended(right, {.scale = 1.0f / C}));
  EXPECT_EQ(attended(broken(kReference, "attention_softcap_missing"), {.softcap = 2}),
            attended(right, {}));
}

TEST(AttentionFaults, SayWhatTheyNeed) {
  const auto refusal = [](const char* fault, const AttendCase& one) {
    Rig rig(broken(kReference, fault));
    const Outcome outcome = rig.execute(attend_op(rig, one));
    EXPECT_EQ(outcome.status, PLUMB_UNSUPPORTED);
    EXPECT_EQ(outcome.op_id, 7u);
    return outcome.message;
  };
  EXPECT_EQ(refusal("window_missing", {}), "fault window_missing needs a sliding window");
  EXPECT_EQ(refusal("attention_softcap_missing", {}),
            "fault attention_softcap_missing needs a soft cap of scores");
  EXPECT_EQ(refusal("attention_scale_missing", {.scale = 1}),
            "fault attention_scale_missing needs a scale other than 1");
}

/// Keys and values of all rows after two appends, the second from row 4.
std::vector<float> cache_after(const KernelsPlugin& plugin) {
  Rig rig(plugin);
  const plumb_handle kv = rig.kv(S + 1, K, C);
  append(rig, kv, 0, 4);
  append(rig, kv, 4, S - 4);
  std::vector<float> rows(2 * S * K * C);
  std::vector<int32_t> positions(S);
  ErrorBuffer error;
  EXPECT_EQ(rig.table().kv_export(rig.self(), kv, 0, S, rows.data(), rows.data() + S * K * C,
                                  positions.data(), error),
            PLUMB_OK);
  EXPECT_EQ(positions, counted(0, S));
  return rows;
}

TEST(CacheFaults, ChangeTheRowsThatTheySay) {
  const std::vector<float> right = cache_after(plugin_of_host(kReference));
  constexpr uint32_t kRow = K * C;
  const auto with_row = [&](uint32_t row, const float* k, const float* v) {
    std::vector<float> rows = right;
    std::copy_n(k, kRow, rows.begin() + row * kRow);
    std::copy_n(v, kRow, rows.begin() + (S + row) * kRow);
    return rows;
  };
  const float* newest = right.data() + (S - 1) * kRow;
  EXPECT_EQ(cache_after(broken(kReference, "kv_row_overwritten", "2")),
            with_row(2, newest, newest + S * kRow));
  const std::vector<float> zeros(kRow);
  EXPECT_EQ(cache_after(broken(kReference, "kv_stale_row", "5")),
            with_row(5, zeros.data(), zeros.data()));
  std::vector<float> swapped(right.begin() + S * kRow, right.end());
  swapped.insert(swapped.end(), right.begin(), right.begin() + S * kRow);
  EXPECT_EQ(cache_after(broken(kReference, "kv_swapped")), swapped);
}

}  // namespace
}  // namespace plumbline::test
