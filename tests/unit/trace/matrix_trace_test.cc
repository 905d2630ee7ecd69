// What is kept of a matrix. Oracle: the same rows given at once, and counts made by hand.
#include "core/trace/matrix_trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/base/npy.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::test {
namespace {

using trace::Level;
using trace::MatrixTrace;
using trace::MatrixTracer;

constexpr uint32_t kWidth = 7;

std::vector<float> random_rows(uint32_t n) {
  std::mt19937 random(n);
  std::normal_distribution<float> normal;
  std::vector<float> values(size_t{n} * kWidth);
  for (float& value : values) value = normal(random);
  return values;
}

MatrixTrace traced(MatrixTracer tracer, std::span<const float> rows, uint32_t first,
                   std::vector<uint32_t> cuts) {
  for (const uint32_t n : cuts) {
    EXPECT_TRUE(tracer.add(first, kWidth, rows.first(size_t{n} * kWidth)));
    rows = rows.subspan(size_t{n} * kWidth);
    first += n;
  }
  EXPECT_TRUE(rows.empty());
  auto done = std::move(tracer).finish();
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  return done ? *std::move(done) : MatrixTrace{};
}

TEST(MatrixTracer, DoesNotDependOnHowRowsCome) {
  const std::vector<float> rows = random_rows(100);
  const auto with = [&](std::vector<uint32_t> cuts) {
    return traced(MatrixTracer(Level::kStatistics, "", ""), rows, 5, std::move(cuts));
  };
  const MatrixTrace whole = with({100});
  // Positions 5..31, 32..63, 64..95, 96..104.
  ASSERT_EQ(whole.chunks.size(), 4u);
  EXPECT_EQ(whole.chunks[0].n_rows, 27u);
  EXPECT_EQ(whole.chunks[3].first_position, 96u);
  EXPECT_EQ(whole.chunks[3].n_rows, 9u);
  for (const auto& cuts : {std::vector<uint32_t>{1, 99}, {27, 32, 41}, {26, 2, 70, 2}}) {
    const MatrixTrace cut = with(cuts);
    ASSERT_EQ(cut.chunks.size(), 4u);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(cut.chunks[i].sha256, whole.chunks[i].sha256);
    EXPECT_EQ(cut.statistics->mean(), whole.statistics->mean());
    EXPECT_EQ(cut.statistics->rms(), whole.statistics->rms());
    EXPECT_EQ(cut.fingerprint, whole.fingerprint);
  }
}

TEST(MatrixTracer, WritesWhatNumPyReads) {
  TemporaryFolder folder;
  const std::vector<float> rows = random_rows(40);
  const MatrixTrace kept =
      traced(MatrixTracer(Level::kFull, folder.path("."), "a.npy"), rows, 0, {3, 37});
  EXPECT_EQ(kept.file, "a.npy");
  EXPECT_EQ(folder.read("a.npy").size(), trace::npy_file_bytes(40, kWidth));
  // The whole-file writer, which NumPy's own files have judged.
  EXPECT_EQ(folder.read("a.npy"), npy_bytes(std::vector<uint64_t>{40, kWidth}, rows));
}

TEST(MatrixTracer, RefusesWhatDoesNotFollow) {
  MatrixTracer tracer(Level::kHash, "", "");
  const std::vector<float> rows = random_rows(2);
  ASSERT_TRUE(tracer.add(4, kWidth, rows));
  EXPECT_FALSE(tracer.add(7, kWidth, rows));  // a gap
  EXPECT_FALSE(tracer.add(4, kWidth, rows));  // again
  EXPECT_FALSE(tracer.add(6, 2, rows));  // another width
  EXPECT_FALSE(tracer.add(6, kWidth, std::span(rows).first(3)));
  EXPECT_FALSE(tracer.add(6, kWidth, {}));
  EXPECT_FALSE(MatrixTracer(Level::kHash, "", "").add(0, 0, {}));
  auto nowhere = MatrixTracer(Level::kFull, "/proc/none", "a.npy");
  EXPECT_EQ(nowhere.add(0, kWidth, rows).error().code, PLUMB_NOT_FOUND);
}

TEST(Statistics, CountsWhatIsNoNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  trace::Statistics statistics;
  const std::vector<float> values = {0.0f, -0.0f, 3.0f, -4.0f, NAN, kInfinity, -kInfinity, -NAN};
  statistics.add(values);
  EXPECT_EQ(statistics.n_values(), 8u);
  EXPECT_EQ(statistics.n_nan(), 2u);
  EXPECT_EQ(statistics.n_infinite(), 2u);
  EXPECT_EQ(statistics.n_zeros(), 2u);
  EXPECT_EQ(statistics.min(), -4);
  EXPECT_EQ(statistics.max(), 3);
  EXPECT_EQ(statistics.mean(), -0.25);
  EXPECT_EQ(statistics.rms(), 2.5);
  trace::Statistics none;
  none.add(std::vector<float>{NAN});
  EXPECT_EQ(none.min(), 0);
  EXPECT_EQ(none.rms(), 0);
}

TEST(Fingerprint, HasFixedColumns) {
  std::vector<float> row(31);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(i);
  EXPECT_EQ(trace::fingerprint(row),
            (std::vector<float>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}));
  EXPECT_EQ(trace::fingerprint(std::vector<float>{5}), std::vector<float>(16, 5));
  EXPECT_TRUE(trace::fingerprint({}).empty());
}

}  // namespace
}  // namespace plumbline::test
