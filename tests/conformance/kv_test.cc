// KV caches: what was appended or imported comes back bit for bit, in the canonical form [S,K,C];
// rows behind a truncation or an append are gone. The oracle is the input itself.
#include <algorithm>
#include <limits>

#include <gmock/gmock.h>

#include "loaded_plugins.h"
#include "plumb/sdk/half.h"

namespace plumbline::test {

class KvCaches : public EachPlugin {
 protected:
  static constexpr uint32_t kCapacity = 40, K = 3, C = 10;

  struct Rows {
    std::vector<float> k, v;
    std::vector<int32_t> positions;
    bool operator==(const Rows&) const = default;
  };

  Rows random_rows(uint32_t n) {
    Rows rows{random_values(random_, uint64_t{n} * K * C),
              random_values(random_, uint64_t{n} * K * C),
              {}};
    for (uint32_t i = 0; i < n; ++i)
      rows.positions.push_back(static_cast<int32_t>(random_() % 1000));
    return rows;
  }

  Outcome append(plumb_handle kv, uint32_t first, const Rows& rows, uint32_t n_parts = 2) {
    plumb_op op = make_op(PLUMB_OP_KV_APPEND, static_cast<uint32_t>(rows.positions.size()));
    op.as.kv_append = {.kv = kv,
                       .k = rig_.input(rows.k),
                       .v = rig_.input(rows.v),
                       .positions = rig_.input(rows.positions),
                       .first_row = first,
                       .reserved = 0};
    return rig_.execute(op, n_parts);
  }

  plumb_status export_rows(plumb_handle kv, uint32_t first, uint32_t n, Rows* out) {
    *out = {std::vector<float>(n * K * C), std::vector<float>(n * K * C), std::vector<int32_t>(n)};
    return rig_.table().kv_export(rig_.self(), kv, first, n, out->k.data(), out->v.data(),
                                  out->positions.data(), nullptr);
  }

  plumb_status import_rows(plumb_handle kv, uint32_t first, const Rows& rows) {
    return rig_.table().kv_import(rig_.self(), kv, first,
                                  static_cast<uint32_t>(rows.positions.size()), rows.k.data(),
                                  rows.v.data(), rows.positions.data(), nullptr);
  }

  static Rows join(const Rows& a, const Rows& b, uint32_t n_of_a) {
    Rows out = {{a.k.begin(), a.k.begin() + n_of_a * K * C},
                {a.v.begin(), a.v.begin() + n_of_a * K * C},
                {a.positions.begin(), a.positions.begin() + n_of_a}};
    out.k.insert(out.k.end(), b.k.begin(), b.k.end());
    out.v.insert(out.v.end(), b.v.begin(), b.v.end());
    out.positions.insert(out.positions.end(), b.positions.begin(), b.positions.end());
    return out;
  }

  Random random_{19};
};

TEST_P(KvCaches, AppendedRowsComeBack) {
  for (uint32_t n_parts = 1; n_parts <= Rig::kWorkers; ++n_parts) {
    const plumb_handle kv = rig_.kv(kCapacity, K, C);
    const Rows first = random_rows(17), second = random_rows(20);
    ASSERT_EQ(append(kv, 0, first, n_parts).status, PLUMB_OK);
    ASSERT_EQ(append(kv, 17, second, n_parts).status, PLUMB_OK);
    Rows back;
    ASSERT_EQ(export_rows(kv, 0, 37, &back), PLUMB_OK);
    EXPECT_EQ(back, join(first, second, 17));
    ASSERT_EQ(export_rows(kv, 17, 20, &back), PLUMB_OK);
    EXPECT_EQ(back, second);
  }
}

TEST_P(KvCaches, AnAppendInsideDropsTheRowsBehind) {
  const plumb_handle kv = rig_.kv(kCapacity, K, C);
  const Rows first = random_rows(30), second = random_rows(4);
  ASSERT_EQ(append(kv, 0, first).status, PLUMB_OK);
  ASSERT_EQ(append(kv, 9, second).status, PLUMB_OK);
  Rows back;
  ASSERT_EQ(export_rows(kv, 0, 13, &back), PLUMB_OK);
  EXPECT_EQ(back, join(first, second, 9));
  EXPECT_EQ(export_rows(kv, 0, 14, &back), PLUMB_INVALID_ARGUMENT);
}

TEST_P(KvCaches, TruncateDropsRowsAndNeverAddsThem) {
  const plumb_handle kv = rig_.kv(kCapacity, K, C);
  const Rows rows = random_rows(20);
  ASSERT_EQ(append(kv, 0, rows).status, PLUMB_OK);
  const auto truncate = [&](uint32_t n) {
    return rig_.table().kv_truncate(rig_.self(), kv, n, nullptr);
  };
  EXPECT_EQ(truncate(21), PLUMB_INVALID_ARGUMENT);
  ASSERT_EQ(truncate(20), PLUMB_OK);
  ASSERT_EQ(truncate(5), PLUMB_OK);
  EXPECT_EQ(truncate(6), PLUMB_INVALID_ARGUMENT);
  Rows back;
  EXPECT_EQ(export_rows(kv, 0, 6, &back), PLUMB_INVALID_ARGUMENT);
  const Rows more = random_rows(3);
  ASSERT_EQ(append(kv, 5, more).status, PLUMB_OK);
  ASSERT_EQ(export_rows(kv, 0, 8, &back), PLUMB_OK);
  EXPECT_EQ(back, join(rows, more, 5));
  ASSERT_EQ(truncate(0), PLUMB_OK);
  EXPECT_EQ(export_rows(kv, 0, 0, &back), PLUMB_OK);
}

TEST_P(KvCaches, ImportOverwritesAndExtends) {
  const plumb_handle kv = rig_.kv(kCapacity, K, C);
  const Rows first = random_rows(12), second = random_rows(10);
  ASSERT_EQ(import_rows(kv, 0, first), PLUMB_OK);
  ASSERT_EQ(import_rows(kv, 7, second), PLUMB_OK);
  Rows back;
  ASSERT_EQ(export_rows(kv, 0, 17, &back), PLUMB_OK);
  EXPECT_EQ(back, join(first, second, 7));
  // An import inside keeps the rows behind it.
  const Rows inside = random_rows(2);
  ASSERT_EQ(import_rows(kv, 3, inside), PLUMB_OK);
  Rows tail;
  ASSERT_EQ(export_rows(kv, 5, 12, &tail), PLUMB_OK);
  EXPECT_EQ(tail.positions, std::vector<int32_t>(back.positions.begin() + 5, back.positions.end()));
  EXPECT_EQ(tail.k, std::vector<float>(back.k.begin() + 5 * K * C, back.k.end()));
}

TEST_P(KvCaches, PartOfAnExportMayBeSkipped) {
  const plumb_handle kv = rig_.kv(kCapacity, K, C);
  const Rows rows = random_rows(4);
  ASSERT_EQ(append(kv, 0, rows).status, PLUMB_OK);
  std::vector<float> v(4 * K * C);
  ASSERT_EQ(rig_.table().kv_export(rig_.self(), kv, 0, 4, nullptr, v.data(), nullptr, nullptr),
            PLUMB_OK);
  EXPECT_EQ(v, rows.v);
}

// The oracle is the SDK's conversion, which other tests hold against numpy's.
TEST_P(KvCaches, RowsOfAnF16CacheAreRoundedToNearestEven) {
  const auto rounded = [](std::vector<float> values) {
    for (float& x : values) x = f16_to_f32(f32_to_f16(x));
    return values;
  };
  Rows rows = random_rows(33);
  const float corners[] = {65504.0f, 65519.99f,    -0.0f, 0x1p-24f,   0x1p-25f,   0x1.8p-25f,
                           0x1p-26f, 0x1.ffcp-15f, 1.0f,  0x1.002p0f, 0x1.006p0f, -0x1.ffep15f / 2};
  std::copy(std::begin(corners), std::end(corners), rows.k.begin());
  std::copy(std::begin(corners), std::end(corners), rows.v.end() - std::size(corners));
  for (float& x : rows.k) x = std::clamp(x, -65519.0f, 65519.0f);
  for (float& x : rows.v) x = std::clamp(x, -65519.0f, 65519.0f);
  const Rows expected = {rounded(rows.k), rounded(rows.v), rows.positions};
  const plumb_handle appended = rig_.kv(kCapacity, K, C, PLUMB_F16);
  const plumb_handle imported = rig_.kv(kCapacity, K, C, PLUMB_F16);
  ASSERT_EQ(append(appended, 0, rows, 3).status, PLUMB_OK);
  ASSERT_EQ(import_rows(imported, 0, rows), PLUMB_OK);
  Rows back;
  ASSERT_EQ(export_rows(appended, 0, 33, &back), PLUMB_OK);
  EXPECT_EQ(back, expected);
  ASSERT_EQ(export_rows(imported, 0, 33, &back), PLUMB_OK);
  EXPECT_EQ(back, expected);
}

TEST_P(KvCaches, WhatF16CannotHoldIsANumericError) {
  for (const float bad : {65520.0f, -1e30f, std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    for (const bool in_k : {true, false}) {
      const plumb_handle kv = rig_.kv(kCapacity, K, C, PLUMB_F16);
      Rows rows = random_rows(3);
      for (float& x : rows.k) x = std::clamp(x, -1.0f, 1.0f);
      for (float& x : rows.v) x = std::clamp(x, -1.0f, 1.0f);
      (in_k ? rows.k : rows.v)[2 * K * C + 7] = bad;
      const Outcome outcome = append(kv, 0, rows, 1);
      EXPECT_EQ(outcome.status, PLUMB_NUMERIC) << bad;
      EXPECT_THAT(outcome.message, ::testing::HasSubstr("kv_append"));
      EXPECT_EQ(import_rows(kv, 0, rows), PLUMB_NUMERIC) << bad;
    }
  }
}

TEST_P(KvCaches, RangesOutsideAreRefused) {
  const plumb_handle kv = rig_.kv(kCapacity, K, C);
  const Rows rows = random_rows(8);
  EXPECT_EQ(append(kv, 1, rows).status, PLUMB_INVALID_ARGUMENT) << "a hole";
  EXPECT_EQ(import_rows(kv, 1, rows), PLUMB_INVALID_ARGUMENT) << "a hole";
  ASSERT_EQ(append(kv, 0, rows).status, PLUMB_OK);
  EXPECT_EQ(append(kv, 8, random_rows(kCapacity - 7)).status, PLUMB_INVALID_ARGUMENT)
      << "past the capacity";
  EXPECT_EQ(import_rows(kv, 8, random_rows(kCapacity - 7)), PLUMB_INVALID_ARGUMENT)
      << "past the capacity";
  Rows back;
  ASSERT_EQ(export_rows(kv, 0, 8, &back), PLUMB_OK);
  EXPECT_EQ(back, rows) << "a refused call changed the cache";
  Rows negative = random_rows(1);
  negative.positions[0] = -1;
  EXPECT_EQ(append(kv, 8, negative).status, PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(import_rows(kv, 8, negative), PLUMB_INVALID_ARGUMENT);
  const auto& table = rig_.table();
  EXPECT_EQ(table.kv_export(rig_.self(), kv, 8, UINT32_MAX, nullptr, nullptr, nullptr, nullptr),
            PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(table.kv_export(rig_.self(), kv, UINT32_MAX, 2, nullptr, nullptr, nullptr, nullptr),
            PLUMB_INVALID_ARGUMENT);
}

TEST_P(KvCaches, ImpossibleShapesAreRefused) {
  const auto create = [&](plumb_format format, uint32_t rows, uint32_t heads, uint32_t width,
                          uint32_t struct_bytes) {
    plumb_kv_shape shape = make_abi<plumb_kv_shape>();
    shape.struct_bytes = struct_bytes;
    shape.format = format;
    shape.capacity_rows = rows;
    shape.n_heads_kv = heads;
    shape.head_width = width;
    plumb_handle kv = 0;
    return rig_.table().kv_create(rig_.self(), &shape, &kv, nullptr);
  };
  EXPECT_EQ(create(PLUMB_Q4_0, 8, 2, 32, sizeof(plumb_kv_shape)), PLUMB_UNSUPPORTED);
  EXPECT_EQ(create(999, 8, 2, 32, sizeof(plumb_kv_shape)), PLUMB_UNSUPPORTED);
  EXPECT_EQ(create(PLUMB_F32, 0, 2, 32, sizeof(plumb_kv_shape)), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(create(PLUMB_F32, 8, 0, 32, sizeof(plumb_kv_shape)), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(create(PLUMB_F32, 8, 2, 0, sizeof(plumb_kv_shape)), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(create(PLUMB_F32, 8, 2, 32, 4), PLUMB_INVALID_ARGUMENT);
  EXPECT_NE(create(PLUMB_F32, UINT32_MAX, UINT32_MAX, UINT32_MAX, sizeof(plumb_kv_shape)),
            PLUMB_OK);
}

PLUMB_FOR_EACH_PLUGIN(KvCaches);

}  // namespace plumbline::test
