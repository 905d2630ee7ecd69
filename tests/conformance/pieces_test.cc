// Weights prepared in pieces are those prepared at once, byte for byte, in whatever order the
// pieces come; and what prepare_rows must refuse. Oracle: `prepare` of the same plugin.
#include "loaded_plugins.h"
#include "tests/support/random_tensors.h"

namespace plumbline::test {
namespace {

constexpr uint64_t kRows = 3 * PLUMB_PIECE_ROWS + 21;

class Pieces : public EachPlugin {
 protected:
  void SetUp() override {
    if (!PLUMB_HAS(&rig_.table(), plumb_kernels, prepare_rows) ||
        rig_.table().prepare_begin == nullptr) {
      GTEST_SKIP() << "an optional ability that this plugin does not have";
    }
  }

  uint64_t bytes_of(const HostTensor& tensor, uint32_t uses) {
    const plumb_tensor view = tensor.view();
    uint64_t bytes = 0;
    EXPECT_EQ(rig_.table().prepare_bytes(rig_.self(), &view, uses, &bytes, error_), PLUMB_OK);
    return bytes;
  }
  plumb_handle begin(const HostTensor& tensor, uint32_t uses, plumb_slice place) {
    const plumb_tensor view = tensor.view();
    plumb_handle weight = 0;
    EXPECT_EQ(rig_.table().prepare_begin(rig_.self(), &view, uses, place, &weight, error_),
              PLUMB_OK)
        << error_.message();
    return weight;
  }
  plumb_status rows(plumb_handle weight, const HostTensor& tensor, uint64_t first, uint64_t n) {
    const plumb_tensor view = tensor.view();
    return rig_.table().prepare_rows(rig_.self(), weight, &view, first, n, error_);
  }
  std::vector<uint8_t> prepared_at_once(const HostTensor& tensor, uint32_t uses, uint64_t bytes) {
    const plumb_slice place = rig_.room(bytes);
    const plumb_tensor view = tensor.view();
    plumb_handle weight = 0;
    EXPECT_EQ(rig_.table().prepare(rig_.self(), &view, uses, place, &weight, error_), PLUMB_OK)
        << error_.message();
    rig_.table().release(rig_.self(), weight);
    return rig_.values<uint8_t>(place, bytes);
  }

  ErrorBuffer error_;
};

TEST_P(Pieces, AreTheWholeInAnyOrder) {
  Random random(31);
  for (const FormatInfo& info : kFormats) {
    if (info.format == PLUMB_I32) continue;
    SCOPED_TRACE(info.name);
    const HostTensor tensor = random_tensor(random, info.format, {kRows, 512});
    const uint32_t uses = PLUMB_USE_MATMUL | PLUMB_USE_EMBED;
    const uint64_t bytes = bytes_of(tensor, uses);
    const plumb_slice place = rig_.room(bytes);
    const plumb_handle weight = begin(tensor, uses, place);
    const uint64_t last = 3 * PLUMB_PIECE_ROWS;
    EXPECT_EQ(rows(weight, tensor, last, kRows - last), PLUMB_OK) << error_.message();
    EXPECT_EQ(rows(weight, tensor, PLUMB_PIECE_ROWS, last - PLUMB_PIECE_ROWS), PLUMB_OK);
    EXPECT_EQ(rows(weight, tensor, 0, PLUMB_PIECE_ROWS), PLUMB_OK);
    EXPECT_EQ(rig_.values<uint8_t>(place, bytes), prepared_at_once(tensor, uses, bytes));
    rig_.table().release(rig_.self(), weight);
  }
}

TEST_P(Pieces, OfAVectorAreOne) {
  Random random(32);
  const HostTensor tensor = random_tensor(random, PLUMB_F16, {77});
  const uint64_t bytes = bytes_of(tensor, PLUMB_USE_VECTOR);
  const plumb_slice place = rig_.room(bytes);
  const plumb_handle weight = begin(tensor, PLUMB_USE_VECTOR, place);
  EXPECT_EQ(rows(weight, tensor, 0, 1), PLUMB_OK) << error_.message();
  EXPECT_EQ(rig_.values<uint8_t>(place, bytes), prepared_at_once(tensor, PLUMB_USE_VECTOR, bytes));
  rig_.table().release(rig_.self(), weight);
}

TEST_P(Pieces, OutsideOrOfAnotherTensorAreRefused) {
  Random random(33);
  const HostTensor tensor = random_tensor(random, PLUMB_Q4_1, {kRows, 64});
  const uint64_t bytes = bytes_of(tensor, PLUMB_USE_MATMUL);
  const plumb_handle weight = begin(tensor, PLUMB_USE_MATMUL, rig_.room(bytes));
  const uint64_t ranges[][2] = {{1, 64},   {0, 63},          {0, kRows + 64}, {256, 1},
                                {192, 64}, {64, UINT64_MAX}, {UINT64_MAX, 1}, {UINT64_MAX - 63, 64},
                                {192, 20}};
  for (const auto& [first, n] : ranges)
    EXPECT_EQ(rows(weight, tensor, first, n), PLUMB_INVALID_ARGUMENT) << first << ", " << n;
  for (const HostTensor& other : {random_tensor(random, PLUMB_Q4_1, {kRows + 16, 64}),
                                  random_tensor(random, PLUMB_Q4_1, {kRows + 1, 64}),
                                  random_tensor(random, PLUMB_Q4_1, {kRows, 32}),
                                  random_tensor(random, PLUMB_Q4_0, {kRows, 64})}) {
    EXPECT_EQ(rows(weight, other, 0, 64), PLUMB_INVALID_ARGUMENT) << error_.message();
  }
  EXPECT_EQ(rows(weight + 1, tensor, 0, 64), PLUMB_INVALID_ARGUMENT);
  rig_.table().release(rig_.self(), weight);
  EXPECT_EQ(rows(weight, tensor, 0, 64), PLUMB_INVALID_ARGUMENT);
  // A destination that leaves its buffer.
  const plumb_tensor view = tensor.view();
  plumb_slice outside = rig_.room(bytes);
  outside.offset_bytes += bytes;
  plumb_handle none = 0;
  EXPECT_EQ(
      rig_.table().prepare_begin(rig_.self(), &view, PLUMB_USE_MATMUL, outside, &none, error_),
      PLUMB_INVALID_ARGUMENT);
}

TEST_P(Pieces, NameTheBlockThatIsCorrupt) {
  Random random(34);
  HostTensor tensor = random_tensor(random, PLUMB_Q8_0, {kRows, 64});
  const uint64_t bad_block = 2 * PLUMB_PIECE_ROWS * 2 + 1;
  const uint16_t infinity = 0x7c00;
  std::memcpy(tensor.data.data() + bad_block * sizeof(plumb_block_q8_0), &infinity, 2);
  const plumb_handle weight =
      begin(tensor, PLUMB_USE_MATMUL, rig_.room(bytes_of(tensor, PLUMB_USE_MATMUL)));
  EXPECT_EQ(rows(weight, tensor, 0, 2 * PLUMB_PIECE_ROWS), PLUMB_OK);
  EXPECT_EQ(rows(weight, tensor, 2 * PLUMB_PIECE_ROWS, PLUMB_PIECE_ROWS), PLUMB_CORRUPT);
  EXPECT_NE(error_.message().find("block " + std::to_string(bad_block)), std::string::npos)
      << error_.message();
  rig_.table().release(rig_.self(), weight);
}

TEST_P(Pieces, OfSourcesAtOddAddressesAreTheSame) {
  Random random(35);
  HostTensor tensor = random_tensor(random, PLUMB_Q5_1, {80, 64});
  const uint64_t bytes = bytes_of(tensor, PLUMB_USE_MATMUL);
  const std::vector<uint8_t> expected = prepared_at_once(tensor, PLUMB_USE_MATMUL, bytes);
  std::vector<uint8_t> shifted(tensor.data.size() + 1);
  std::memcpy(shifted.data() + 1, tensor.data.data(), tensor.data.size());
  plumb_tensor view = tensor.view();
  view.data.data = shifted.data() + 1;
  const plumb_slice place = rig_.room(bytes);
  plumb_handle weight = 0;
  ASSERT_EQ(rig_.table().prepare(rig_.self(), &view, PLUMB_USE_MATMUL, place, &weight, error_),
            PLUMB_OK);
  EXPECT_EQ(rig_.values<uint8_t>(place, bytes), expected);
  rig_.table().release(rig_.self(), weight);
}

PLUMB_FOR_EACH_PLUGIN(Pieces);

}  // namespace
}  // namespace plumbline::test
