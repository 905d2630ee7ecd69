// Damaged files: no crash, no read outside the file, no leak; a clean error or a valid model.
// Oracle: the sanitizers, and MemoryHost's blocks of exactly the file's size.
#include <random>

#include "tests/support/golden_cases.h"
#include "written.h"

namespace plumbline::test {
namespace {

/// Touches everything that the loader hands out.
void use(const Opened& opened) {
  if (opened.status() != PLUMB_OK) {
    EXPECT_FALSE(opened.message().empty());
    return;
  }
  (void)opened.hyper_parameters();
  const plumb_metadata* metadata = Opened::table().metadata(opened.model());
  uint64_t sum = 0;
  for (uint64_t i = 0;; ++i) {
    const plumb_str key = metadata->key_at(metadata->context, i);
    if (key.bytes == 0) break;
    auto value = make_abi<plumb_value>();
    metadata->get(metadata->context, key, &value);
    if (value.type == PLUMB_VALUE_STR && value.as.str.bytes > 0)
      sum += static_cast<uint8_t>(value.as.str.data[value.as.str.bytes - 1]);
    if (value.type != PLUMB_VALUE_STR_ARRAY) continue;
    for (uint64_t k = 0; k < value.as.array.n; ++k) {
      const plumb_str text = static_cast<const plumb_str*>(value.as.array.data)[k];
      if (text.bytes > 0) sum += static_cast<uint8_t>(text.data[text.bytes - 1]);
    }
  }
  for (uint64_t i = 0; i < Opened::table().n_tensors(opened.model()); ++i) {
    const plumb_tensor tensor = opened.tensor(i);
    sum += tensor.data.data[0] + tensor.data.data[tensor.data.bytes - 1];
  }
  EXPECT_GE(sum, 0u);
  const Written made = layout(opened, PLUMB_F16, formats_of(opened));
  EXPECT_NE(made.status == PLUMB_OK, made.head.empty()) << made.message;
}

std::vector<uint8_t> whole() {
  return read_file(golden_path("models/tiny-llama/model.gguf"));
}

/// Where the header ends: no tensor's data lies before.
uint64_t header_bytes(const std::vector<uint8_t>& file) {
  const Opened opened(file);
  EXPECT_EQ(opened.status(), PLUMB_OK) << opened.message();
  uint64_t first = file.size();
  for (uint64_t i = 0; i < Opened::table().n_tensors(opened.model()); ++i) {
    first = std::min(first, opened.tensor(i).file_offset);
  }
  return first;
}

std::vector<uint8_t> cut(const std::vector<uint8_t>& file, uint64_t n) {
  return {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n)};
}

TEST(GgufDamage, TruncationAnywhereIsAnError) {
  const auto file = whole();
  const uint64_t header = header_bytes(file);
  ASSERT_GT(header, 1000u);
  for (uint64_t n = 0; n < header; ++n) {
    const Opened opened(cut(file, n));
    ASSERT_NE(opened.status(), PLUMB_OK) << "cut to " << n << " bytes";
    ASSERT_FALSE(opened.message().empty());
  }
  std::mt19937_64 random(20);
  for (int i = 0; i < 200; ++i) {
    const uint64_t n = header + random() % (file.size() - header);
    const Opened opened(cut(file, n));
    ASSERT_EQ(opened.status(), PLUMB_CORRUPT) << "cut to " << n << " bytes";
  }
}

TEST(GgufDamage, FlippedBitsNeverCrash) {
  const auto file = whole();
  const uint64_t header = header_bytes(file);
  std::mt19937_64 random(21);
  for (int i = 0; i < 5000; ++i) {
    auto damaged = file;
    const uint64_t n_flips = 1 + random() % 4;
    for (uint64_t k = 0; k < n_flips; ++k)
      damaged[random() % header] ^= static_cast<uint8_t>(1u << random() % 8);
    use(Opened(damaged));
  }
}

/// Counts and lengths are where a parser trusts too much: extreme 64-bit words at every place of
/// the header.
TEST(GgufDamage, ExtremeWordsNeverCrash) {
  const auto file = read_file(golden_path("models/tiny-llama-rope-llama3/model.gguf"));
  const uint64_t header = header_bytes(file);
  const uint64_t words[] = {0,          1,         0x7fffffff, 0x80000000, 0xffffffff,
                            1ull << 40, INT64_MAX, 1ull << 63, ~0ull};
  std::mt19937_64 random(22);
  for (int i = 0; i < 5000; ++i) {
    auto damaged = file;
    const uint64_t word = words[random() % std::size(words)];
    std::memcpy(damaged.data() + random() % (header - sizeof word), &word, sizeof word);
    use(Opened(damaged));
  }
}

}  // namespace
}  // namespace plumbline::test
