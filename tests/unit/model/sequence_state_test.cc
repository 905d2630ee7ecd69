// A sequence saved and put back, in the same decoder or another. Oracle: the logits that the
// sequence itself would have had next, bit for bit.
#include "core/model/sequence_state.h"

#include <gmock/gmock.h>

#include "tests/support/model_harness.h"

namespace plumbline::test {
namespace {

using testing::HasSubstr;

const std::vector<int32_t> kIds = {1, 5, 9, 2, 7, 3, 11, 4, 8, 6, 2, 2, 9};
constexpr model::StateIdentity kIdentity = {1, 2, 3};

std::string model_path(const std::string& name) {
  return golden_folder(name) + "/model.gguf";
}

std::vector<uint8_t> saved(model::Decoder& decoder) {
  std::vector<uint8_t> bytes;
  const auto done = model::save_sequence(decoder, decoder.sequence(), kIdentity,
                                         [&](std::span<const uint8_t> piece) -> Result<void> {
                                           bytes.insert(bytes.end(), piece.begin(), piece.end());
                                           return {};
                                         });
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(bytes.size(), model::state_bytes(decoder, decoder.sequence()));
  return bytes;
}

std::vector<float> next_logits(model::Decoder& decoder, int32_t id) {
  const auto row = decoder.forward({&id, 1});
  EXPECT_TRUE(row) << row.error().message;
  return row ? std::vector<float>(row->begin(), row->end()) : std::vector<float>();
}

TEST(SequenceState, TheNextLogitsHaveTheSameBits) {
  for (const char* name : {"tiny-llama", "tiny-gemma3"}) {
    for (const plumb_format format : {PLUMB_F32, PLUMB_F16}) {
      for (const uint32_t context_rows : {32u, 8u}) {  // 8: some went
        const RunnerOptions options{
            .backend = "plumb.cpu.scalar",
            .activations = PLUMB_ACT_Q8,
            .kv_format = format,
            .context_rows = context_rows,
            .window = {.policy = model::WindowPolicy::kSinkRing, .sinks = 2}};
        const auto from = Runner::create(model_path(name), options);
        const auto to = Runner::create(model_path(name), options);
        ASSERT_TRUE(from != nullptr && to != nullptr);
        from->last_logits(kIds);
        const std::vector<uint8_t> bytes = saved(from->decoder());
        to->last_logits(std::vector<int32_t>{3, 3, 3});
        const auto done =
            model::restore_sequence(to->decoder(), to->decoder().sequence(), kIdentity, bytes);
        ASSERT_TRUE(done) << done.error().message;
        EXPECT_EQ(saved(to->decoder()), bytes);
        EXPECT_EQ(to->decoder().sequence().window().n_fed(), kIds.size());
        // Far enough for a window to evict what was put back.
        for (int32_t id = 1; id < 10; ++id)
          EXPECT_TRUE(same_bits(next_logits(to->decoder(), id), next_logits(from->decoder(), id)));
      }
    }
  }
}

TEST(SequenceState, AnEmptySequenceCanBeSaved) {
  const auto runner = Runner::create(model_path("tiny-llama"), {.backend = "plumb.cpu.scalar"});
  ASSERT_NE(runner, nullptr);
  const std::vector<uint8_t> bytes = saved(runner->decoder());
  runner->last_logits(kIds);
  ASSERT_TRUE(
      model::restore_sequence(runner->decoder(), runner->decoder().sequence(), kIdentity, bytes));
  EXPECT_EQ(runner->decoder().n_past(), 0u);
}

class SequenceStateRefusals : public testing::Test {
 protected:
  void SetUp() override {
    runner_ = Runner::create(model_path("tiny-llama"),
                             {.backend = "plumb.cpu.scalar", .context_rows = 32});
    ASSERT_NE(runner_, nullptr);
    runner_->last_logits(kIds);
    bytes_ = saved(runner_->decoder());
    // What a refusal leaves alone.
    runner_->last_logits(kHeld);
    held_ = saved(runner_->decoder());
  }

  void expect_refused(Runner& runner, std::span<const uint8_t> bytes, plumb_status code,
                      const std::string& message,
                      const model::StateIdentity& identity = kIdentity) {
    const auto done =
        model::restore_sequence(runner.decoder(), runner.decoder().sequence(), identity, bytes);
    ASSERT_FALSE(done) << message;
    EXPECT_EQ(done.error().code, code) << done.error().message;
    EXPECT_THAT(done.error().message, HasSubstr(message));
    EXPECT_EQ(saved(runner_->decoder()), held_);
  }

  const std::vector<int32_t> kHeld = {4, 4};
  std::unique_ptr<Runner> runner_;
  std::vector<uint8_t> bytes_, held_;
};

TEST_F(SequenceStateRefusals, EveryLengthButTheRightOne) {
  for (size_t n = 0; n < bytes_.size(); n += n < 200 ? 1 : 97)
    expect_refused(*runner_, std::span(bytes_).first(n), PLUMB_CORRUPT, "a saved sequence: of ");
  bytes_.push_back(0);
  expect_refused(*runner_, bytes_, PLUMB_CORRUPT, "a saved sequence: of ");
}

TEST_F(SequenceStateRefusals, WhatBelongsElsewhere) {
  expect_refused(*runner_, bytes_, PLUMB_INVALID_ARGUMENT, "identity: found another",
                 model::StateIdentity{9});
  const auto other = [&](const std::string& model, RunnerOptions options) {
    options.backend = "plumb.cpu.scalar";
    return Runner::create(model_path(model), options);
  };
  expect_refused(*other("tiny-qwen3", {}), bytes_, PLUMB_INVALID_ARGUMENT, "shape: found 2 layers");
  expect_refused(*other("tiny-llama", {.kv_format = PLUMB_F16}), bytes_, PLUMB_INVALID_ARGUMENT,
                 "in F32, expected");
  expect_refused(*other("tiny-llama", {.context_rows = 8}), bytes_, PLUMB_INVALID_ARGUMENT,
                 "rows: found 13, expected at most 8");
  expect_refused(*other("tiny-llama", {.keeps_keys = true}), bytes_, PLUMB_INVALID_ARGUMENT,
                 "un-rotated keys: found none");
}

// Whatever stands in the header: refused, or no more than other numbers in the rows.
TEST_F(SequenceStateRefusals, AHeaderThatWasTamperedWith) {
  for (size_t at = 0; at < 120; ++at) {
    for (const uint8_t value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      if (bytes_[at] == value) continue;
      std::vector<uint8_t> bad = bytes_;
      bad[at] = value;
      const auto done = model::restore_sequence(runner_->decoder(), runner_->decoder().sequence(),
                                                kIdentity, bad);
      if (!done) continue;
      EXPECT_EQ(runner_->decoder().n_past(), kIds.size());
      next_logits(runner_->decoder(), 1);
    }
  }
}

TEST_F(SequenceStateRefusals, NumbersThatAreNone) {
  const uint32_t not_a_number = 0x7fc00000;
  for (size_t at = bytes_.size() - 4; at > bytes_.size() / 2; at -= 4 * 101) {
    std::vector<uint8_t> bad = bytes_;
    std::memcpy(&bad[at], &not_a_number, 4);
    expect_refused(*runner_, bad, PLUMB_CORRUPT, "is not finite");
  }
}

TEST_F(SequenceStateRefusals, ASinkThatFailsEndsTheSaving) {
  int n_pieces = 0;
  const auto done = model::save_sequence(runner_->decoder(), runner_->decoder().sequence(),
                                         kIdentity, [&](std::span<const uint8_t>) -> Result<void> {
                                           if (++n_pieces < 3) return {};
                                           return Error{PLUMB_NOT_FOUND, "the disk is full"};
                                         });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "the disk is full");
  EXPECT_EQ(n_pieces, 3);
}

}  // namespace
}  // namespace plumbline::test
