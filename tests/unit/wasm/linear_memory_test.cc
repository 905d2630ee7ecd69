// Pieces of linear memory. Oracle: the rules in linear_memory.h, and a list of what is held.
#include "backends/wasm/linear_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>

#include "backends/wasm/runtime.h"
#include "made_module.h"

namespace plumbline::test {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

class LinearMemories : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = wasm::Runtime::create(folder_.write("m.wasm", as_text(MadeModule().bytes())));
    ASSERT_TRUE(made) << made.error().message;
    runtime_ = *std::move(made);
  }
  wasm::LinearMemory& memory() { return runtime_->memory(); }
  uint64_t offset(const cpu::Memory& piece) {
    return memory().offset_of(reinterpret_cast<uintptr_t>(piece.data())).value();
  }

  TemporaryFolder folder_;
  std::unique_ptr<wasm::Runtime> runtime_;
};

TEST_F(LinearMemories, PiecesAreDisjointZeroedAndUsedAgain) {
  std::mt19937 random(1);
  std::vector<cpu::Memory> held;
  for (int step = 0; step < 2000; ++step) {
    if (held.size() > 40 || (!held.empty() && random() % 3 == 0)) {
      std::swap(held[random() % held.size()], held.back());
      held.pop_back();
      continue;
    }
    const uint64_t bytes = random() % 50 == 0 ? random() % (8 << 20) : random() % 20000;
    auto piece = memory().allocate(bytes);
    ASSERT_TRUE(piece);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece->data()) % 64, 0u);
    EXPECT_GE(offset(*piece), 8192u) << "the module's own data ends there";
    EXPECT_TRUE(
        std::all_of(piece->data(), piece->data() + bytes, [](uint8_t b) { return b == 0; }));
    std::fill_n(piece->data(), bytes, uint8_t{0x5a});
    held.push_back(*std::move(piece));
    std::map<uint64_t, uint64_t> ends;
    for (const cpu::Memory& one : held) ends[offset(one)] = offset(one) + one.bytes();
    ASSERT_EQ(ends.size(), held.size());
    uint64_t end = 0;
    for (const auto& [begin, next] : ends) {
      ASSERT_GE(begin, end);
      end = next;
    }
  }
  held.clear();
  auto most = memory().allocate(wasm::LinearMemory::kBytesMax - (4 << 20));
  ASSERT_TRUE(most) << "what was given back is one piece again";
  EXPECT_EQ(most->data()[0], 0);
}

TEST_F(LinearMemories, EndAt4GiB) {
  EXPECT_FALSE(memory().allocate(4 * kGiB));
  EXPECT_FALSE(memory().allocate(UINT64_MAX));
  EXPECT_FALSE(memory().allocate_shared(UINT64_MAX));
  auto first = memory().allocate(3 * kGiB);
  ASSERT_TRUE(first);
  EXPECT_FALSE(memory().allocate(2 * kGiB));
  first.reset();
  EXPECT_TRUE(memory().allocate(3 * kGiB));
}

TEST_F(LinearMemories, AddressesOutsideHaveNoOffset) {
  const auto piece = memory().allocate(16);
  const auto base = reinterpret_cast<uintptr_t>(piece->data()) - offset(*piece);
  EXPECT_EQ(memory().offset_of(base + 123), 123u);
  EXPECT_FALSE(memory().offset_of(base - 1));
  EXPECT_FALSE(memory().offset_of(base + wasm::LinearMemory::kBytesMax));
  EXPECT_FALSE(memory().offset_of(reinterpret_cast<uintptr_t>(this)));
}

TEST_F(LinearMemories, FilesLieInItWithTheirOwnPages) {
  std::vector<uint8_t> bytes(3 * 4096 + 100);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7);
  const std::string path = folder_.write("data", as_text(bytes));
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  EXPECT_FALSE(memory().map_file(fd, 0, bytes.size() + 1)) << "behind the end of the file";
  EXPECT_FALSE(memory().map_file(fd, UINT64_MAX, 1));
  EXPECT_FALSE(memory().map_file(-1, 0, 1));
  auto piece = memory().map_file(fd, 4100, 200);
  ASSERT_TRUE(piece);
  EXPECT_TRUE(std::equal(piece->data(), piece->data() + 200, bytes.begin() + 4100));
  piece->data()[0] = 1;
  EXPECT_EQ(read_bytes(path)[4100], 1) << "it is the file, no copy of it";
  const uint64_t place = offset(*piece) - 4;
  piece.reset();
  close(fd);
  auto again = memory().allocate(4096);
  ASSERT_TRUE(again);
  EXPECT_EQ(offset(*again), place);
  EXPECT_EQ(again->data()[4], 0) << "its place holds no page of the file any more";
}

}  // namespace
}  // namespace plumbline::test
