// Heads of rewritten files. Oracle: the files of golden/models, which gguf-py wrote, and the GGUF
// specification.
#include <gmock/gmock.h>

#include "plumb/formats.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/golden_cases.h"
#include "written.h"

namespace plumbline::test {
namespace {

using testing::HasSubstr;

/// Bytes of a u32 entry as the file has it.
Bytes u32_entry(std::string_view key, uint32_t value) {
  Bytes bytes;
  append_string(bytes, key);
  append<uint32_t>(bytes, 4);
  append(bytes, value);
  return bytes;
}

/// Puts the value into the one place where the key's entry stands.
void patch(Bytes& file, std::string_view key, uint32_t value) {
  Bytes text;
  append_string(text, key);
  const auto at = std::ranges::search(file, text);
  ASSERT_FALSE(at.empty()) << key;
  const Bytes entry = u32_entry(key, value);
  std::ranges::copy(entry, at.begin());
}

TEST(GgufWriter, SameFormatsGiveTheSameFileButForTwoNumbers) {
  for (const char* name : {"tiny-llama", "tiny-formats", "tiny-gemma3", "tiny-world"}) {
    SCOPED_TRACE(name);
    Bytes file = read_file(golden_path(std::string("models/") + name + "/model.gguf"));
    const Opened opened(file);
    ASSERT_EQ(opened.status(), PLUMB_OK) << opened.message();
    const Written made = layout(opened, PLUMB_Q5_0, formats_of(opened));
    ASSERT_EQ(made.status, PLUMB_OK) << made.message;
    EXPECT_EQ(made.file_bytes, file.size());
    for (uint64_t i = 0; i < made.offsets.size(); ++i)
      EXPECT_EQ(made.offsets[i], opened.tensor(i).file_offset) << i;
    patch(file, "general.file_type", 8);  // llama.h: LLAMA_FTYPE_MOSTLY_Q5_0
    patch(file, "general.quantization_version", 2);
    file.resize(made.head.size());
    EXPECT_EQ(made.head, file);
  }
}

GgufWriter two_tensors() {
  GgufWriter writer;
  writer.text("general.architecture", "test").value<uint32_t>("general.alignment", 64);
  writer.alignment = 64;
  writer.tensor("matrix", {256, 3}, PLUMB_F32, Bytes(3 * 256 * 4));
  writer.tensor("odd", {5}, PLUMB_F32, Bytes(5 * 4));
  return writer;
}

TEST(GgufWriter, OffsetsAreAlignedAndMissingNumbersAppended) {
  const Opened opened(two_tensors().bytes());
  ASSERT_EQ(opened.status(), PLUMB_OK) << opened.message();
  const Written made = layout(opened, PLUMB_Q6_K, {PLUMB_Q6_K, PLUMB_F32});
  ASSERT_EQ(made.status, PLUMB_OK) << made.message;
  EXPECT_EQ(made.offsets[0], (made.head.size() + 63) / 64 * 64);
  EXPECT_EQ(made.offsets[1], made.offsets[0] + 640) << "3 blocks of 210 bytes, and padding";
  EXPECT_EQ(made.file_bytes, made.offsets[1] + 64);

  Bytes file = made.head;
  file.resize(made.file_bytes);
  const Opened again(file);
  ASSERT_EQ(again.status(), PLUMB_OK) << again.message();
  auto value = make_abi<plumb_value>();
  EXPECT_EQ(again.get("general.file_type", value), PLUMB_OK);
  EXPECT_EQ(value.as.u64, 18u) << "llama.h: LLAMA_FTYPE_MOSTLY_Q6_K";
  EXPECT_EQ(again.get("general.quantization_version", value), PLUMB_OK);
  EXPECT_EQ(value.as.u64, 2u) << "ggml.h: GGML_QNT_VERSION";
  EXPECT_EQ(again.tensor(0).format, PLUMB_Q6_K);
  EXPECT_EQ(again.tensor(0).file_offset, made.offsets[0]);
  EXPECT_EQ(again.tensor(1).dims[0], 5u);
  EXPECT_EQ(again.tensor(1).file_offset, made.offsets[1]);
}

TEST(GgufWriter, RefusesARecordThatIsNotThere) {
  const Opened opened(two_tensors().bytes());
  const auto refused = [&](plumb_file_layout* record) {
    ErrorBuffer error;
    EXPECT_EQ(loaders::gguf::writer_table().layout(opened.model(), record, error),
              PLUMB_INVALID_ARGUMENT);
    EXPECT_THAT(std::string(error.message()), HasSubstr("missing, or too short, or has no room"));
  };
  refused(nullptr);
  plumb_file_layout record = make_abi<plumb_file_layout>();
  record.struct_bytes = 8;
  refused(&record);
  record = make_abi<plumb_file_layout>();
  record.n_tensors = 2;  // and no formats
  refused(&record);
  record = make_abi<plumb_file_layout>();
  record.head_capacity_bytes = 1;  // and no head
  refused(&record);
}

TEST(GgufWriter, SaysWhatItCannotWrite) {
  const Opened opened(two_tensors().bytes());
  const auto refused = [&](plumb_format main_format, std::vector<plumb_format> formats,
                           plumb_status status, const char* message) {
    const Written made = layout(opened, main_format, std::move(formats));
    EXPECT_EQ(made.status, status);
    EXPECT_THAT(made.message, HasSubstr(message));
  };
  refused(PLUMB_Q8_0, {PLUMB_F32}, PLUMB_INVALID_ARGUMENT, "1 formats for 2 tensors");
  refused(PLUMB_Q8_0, {PLUMB_F32, PLUMB_Q8_0}, PLUMB_INVALID_ARGUMENT,
          "tensor \"odd\": row of 5 values, expected a multiple of 32 for Q8_0");
  refused(PLUMB_Q8_0, {PLUMB_ACT_Q8, PLUMB_F32}, PLUMB_UNSUPPORTED, "tensor \"matrix\": format");
  refused(PLUMB_I32, {PLUMB_F32, PLUMB_F32}, PLUMB_UNSUPPORTED, "mostly I32");
  EXPECT_EQ(layout(opened, PLUMB_F32, {PLUMB_F32, PLUMB_F32}, 16).status, PLUMB_MORE_SPACE);

  GgufWriter wrong = two_tensors();
  wrong.text("general.file_type", "Q8_0");
  const Opened odd(wrong.bytes());
  const Written made = layout(odd, PLUMB_F32, {PLUMB_F32, PLUMB_F32});
  EXPECT_EQ(made.status, PLUMB_CORRUPT);
  EXPECT_THAT(made.message, HasSubstr("general.file_type is string, expected u32"));
}

}  // namespace
}  // namespace plumbline::test
