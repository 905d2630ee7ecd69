#include "core/trace/recording.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/model_harness.h"

namespace plumbline::test {
namespace {

using trace::Recording;

TEST(Recording, RowsAreFoundByPosition) {
  Recording recording;
  const std::vector<float> first = {0, 1, 10, 11}, next = {20, 21};
  ASSERT_TRUE(recording.put("0.attn_q", 3, 2, first));
  ASSERT_TRUE(recording.put("0.attn_q", 5, 2, next));
  EXPECT_EQ(recording.find("0.attn_q")->n_rows(), 3u);
  const auto rows = recording.rows("0.attn_q", 4, 2);
  EXPECT_EQ(std::vector<float>(rows.begin(), rows.end()), (std::vector<float>{10, 11, 20, 21}));
  EXPECT_TRUE(recording.rows("0.attn_q", 2, 1).empty());
  EXPECT_TRUE(recording.rows("0.attn_q", 5, 2).empty());
  EXPECT_TRUE(recording.rows("0.attn_q", 0xffffffffu, 0xffffffffu).empty());
  EXPECT_TRUE(recording.rows("0.attn_k", 3, 1).empty());
}

TEST(Recording, LaterRowsReplace) {
  Recording recording;
  const std::vector<float> first = {1, 2, 3}, again = {7, 8, 9, 10};
  ASSERT_TRUE(recording.put("kv", 0, 1, first));
  ASSERT_TRUE(recording.put("kv", 0, 1, again));
  EXPECT_EQ(recording.find("kv")->values, again);
  EXPECT_EQ(recording.bytes(), 16u);
}

TEST(Recording, RefusesWhatDoesNotJoin) {
  Recording recording;
  const std::vector<float> values = {1, 2};
  ASSERT_TRUE(recording.put("a", 4, 2, values));
  EXPECT_FALSE(recording.put("a", 6, 2, values));  // a gap
  EXPECT_FALSE(recording.put("a", 3, 2, values));
  EXPECT_FALSE(recording.put("a", 5, 1, values));  // another width
  EXPECT_FALSE(recording.put("b", 0, 3, values));  // no whole row
  EXPECT_FALSE(recording.put("b", 0, 0, {}));
}

// Oracle: the decoder itself, whose residual stream is what the head reads.
TEST(Recorder, SeesEveryOpOfEveryPosition) {
  const auto runner =
      Runner::create(golden_folder("tiny-llama") + "/model.gguf", {.backend = "plumb.cpu.scalar"});
  ASSERT_NE(runner, nullptr);
  Recording recording;
  trace::Recorder recorder(recording);
  runner->decoder().set_observer(&recorder);
  const std::vector<int32_t> ids = {1, 5, 9, 2};
  ASSERT_TRUE(runner->decoder().forward(ids));
  const int32_t next = 3;
  ASSERT_TRUE(runner->decoder().forward({&next, 1}));
  const model::HyperParameters& hp = runner->decoder().hyper_parameters();
  EXPECT_EQ(recording.find("embed")->n_rows(), 5u);
  EXPECT_EQ(recording.find("1.attend")->width, hp.n_heads * hp.head_width);
  EXPECT_EQ(recording.find("0.kv_append")->n_rows(), 5u);
  EXPECT_EQ(recording.find("0.kv_append")->width, 2 * hp.n_heads_kv * hp.head_width);
  // The head runs for one row a forward.
  EXPECT_EQ(recording.find("output")->first_position, 3u);
  EXPECT_EQ(recording.find("output")->n_rows(), 2u);
  // What was appended is what was rotated.
  const auto rotated = recording.rows("0.attn_k_rope", 2, 1);
  const auto kept = recording.rows("0.kv_append", 2, 1);
  EXPECT_TRUE(std::equal(rotated.begin(), rotated.end(), kept.begin()));
}

/// Puts recorded rows of one op in place.
class Putter : public model::OpObserver {
 public:
  Putter(const Recording& recording, std::string op) : recording_(&recording), op_(std::move(op)) {}
  bool wants(const model::OpInfo& op) override { return op.name == op_; }
  Result<void> after(model::OpSite& site) override {
    std::vector<float> written;
    PLUMB_TRY(site.read_output(written));
    PLUMB_TRY(trace::put_recorded(*recording_, site, written));
    return site.read_output(seen);
  }
  std::vector<float> seen;

 private:
  const Recording* recording_;
  std::string op_;
};

// Oracle: the rows that were recorded, and for the others the run without.
TEST(PutRecorded, PutsTheRowsThatBothHaveAndLeavesTheOthers) {
  const auto runner =
      Runner::create(golden_folder("tiny-llama") + "/model.gguf", {.backend = "plumb.cpu.scalar"});
  ASSERT_NE(runner, nullptr);
  Recording plain;
  trace::Recorder recorder(plain);
  const std::vector<int32_t> ids = {1, 5, 9, 2};
  runner->decoder().set_observer(&recorder);
  ASSERT_TRUE(runner->decoder().forward(ids));
  for (const std::string op : {"1.attn_q", "1.kv_append"}) {
    const uint32_t width = plain.find(op)->width;
    Recording other;  // two rows of the forward, and some behind it
    ASSERT_TRUE(other.put(op, 2, width, std::vector<float>(size_t{5} * width, 0.25f)));
    Putter putter(other, op);
    runner->decoder().set_observer(&putter);
    ASSERT_TRUE(runner->decoder().truncate(0));
    ASSERT_TRUE(runner->decoder().forward(ids));
    std::vector<float> expected = plain.find(op)->values;
    std::fill(expected.begin() + 2 * width, expected.end(), 0.25f);
    EXPECT_EQ(putter.seen, expected) << op;

    Recording wider;
    ASSERT_TRUE(wider.put(op, 0, width + 1, std::vector<float>(width + 1)));
    Putter refused(wider, op);
    runner->decoder().set_observer(&refused);
    ASSERT_TRUE(runner->decoder().truncate(0));
    const auto done = runner->decoder().forward(ids);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, PLUMB_INCOMPATIBLE);
  }
}

}  // namespace
}  // namespace plumbline::test
