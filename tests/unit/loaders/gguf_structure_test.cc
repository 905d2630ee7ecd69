// Structure of GGUF files: what is read, and each way in which a file can contradict itself.
// Oracle: the GGUF specification, the cases of golden/cases/loaders.jsonl, and the bytes that the
// writer was given.
#include <gmock/gmock.h>

#include "opened.h"
#include "plumb/formats.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/golden_cases.h"

namespace plumbline::test {
namespace {

using ::testing::HasSubstr;

Bytes f32_bytes(const std::vector<float>& values) {
  Bytes out;
  for (const float value : values) append(out, value);
  return out;
}

TEST(GgufStructure, GoldenCases) {
  int n = 0;
  for (const auto& one : read_jsonl(golden_path("cases/loaders.jsonl"))) {
    if (one["input"]["op"] != "load_gguf") continue;
    SCOPED_TRACE(one["id"]);
    ++n;
    const auto bytes = base64_decode(one["input"]["value"]["base64"].get<std::string>());
    ASSERT_EQ(bytes.size(), one["input"]["value"]["bytes"]);
    const Opened opened(bytes);
    const auto& expected = one["expected"];
    if (expected["error"].is_boolean()) {
      EXPECT_EQ(opened.status() != PLUMB_OK, expected["error"]) << opened.message();
    }
    if (opened.status() != PLUMB_OK) {
      EXPECT_THAT(opened.message(), HasSubstr("m.gguf: "));
    }
    if (!expected.contains("tensors")) continue;
    const auto values = expected["tensors"]["w"].get<std::vector<float>>();
    const plumb_tensor tensor = opened.tensor(0);
    ASSERT_EQ(tensor.data.bytes, values.size() * sizeof(float));
    EXPECT_EQ(std::memcmp(tensor.data.data, values.data(), tensor.data.bytes), 0);
  }
  EXPECT_EQ(n, 19);
}

TEST(GgufStructure, EveryKindOfValue) {
  const std::string tokens[] = {"a", "", "\xe6\x97\xa5"};
  GgufWriter writer;
  writer.value<uint8_t>("u8", 200)
      .value<int8_t>("i8", -100)
      .value<uint16_t>("u16", 60000)
      .value<int16_t>("i16", -30000);
  writer.value<uint32_t>("u32", 4000000000u)
      .value<int32_t>("i32", -2000000000)
      .value<float>("f32", 0.5f)
      .value<bool>("bool", true);
  writer.value<uint64_t>("u64", ~0ull)
      .value<int64_t>("i64", INT64_MIN)
      .value<double>("f64", 0.1)
      .text("text", "h\xc3\xa9");
  writer.array<int32_t>("ints", {1, -2, 3})
      .array<float>("floats", {0.25f})
      .array<uint8_t>("bytes", {255});
  writer.array<int64_t>("wide", {1ll << 40})
      .array<double>("doubles", {1.0})
      .array<uint64_t>("none", {});
  writer.strings("strings", {tokens[0], tokens[1], tokens[2]});
  for (const uint32_t version : {2u, 3u}) {
    writer.version = version;
    const Opened opened(writer.bytes());
    ASSERT_EQ(opened.status(), PLUMB_OK) << opened.message();

    auto value = make_abi<plumb_value>();
    const auto read = [&](const char* key, uint32_t type) {
      EXPECT_EQ(opened.get(key, value), PLUMB_OK) << key;
      EXPECT_EQ(value.type, type) << key;
    };
    read("u8", PLUMB_VALUE_U64);
    EXPECT_EQ(value.as.u64, 200u);
    read("i8", PLUMB_VALUE_I64);
    EXPECT_EQ(value.as.i64, -100);
    read("u16", PLUMB_VALUE_U64);
    EXPECT_EQ(value.as.u64, 60000u);
    read("i16", PLUMB_VALUE_I64);
    EXPECT_EQ(value.as.i64, -30000);
    read("u32", PLUMB_VALUE_U64);
    EXPECT_EQ(value.as.u64, 4000000000u);
    read("i32", PLUMB_VALUE_I64);
    EXPECT_EQ(value.as.i64, -2000000000);
    read("f32", PLUMB_VALUE_F64);
    EXPECT_EQ(value.as.f64, 0.5);
    read("bool", PLUMB_VALUE_BOOL);
    EXPECT_EQ(value.as.u64, 1u);
    read("u64", PLUMB_VALUE_U64);
    EXPECT_EQ(value.as.u64, ~0ull);
    read("i64", PLUMB_VALUE_I64);
    EXPECT_EQ(value.as.i64, INT64_MIN);
    read("f64", PLUMB_VALUE_F64);
    EXPECT_EQ(value.as.f64, 0.1);
    read("text", PLUMB_VALUE_STR);
    EXPECT_EQ(to_view(value.as.str), "h\xc3\xa9");
    read("ints", PLUMB_VALUE_I32_ARRAY);
    EXPECT_THAT(std::span(static_cast<const int32_t*>(value.as.array.data), value.as.array.n),
                ::testing::ElementsAre(1, -2, 3));
    read("bytes", PLUMB_VALUE_I32_ARRAY);
    EXPECT_THAT(std::span(static_cast<const int32_t*>(value.as.array.data), value.as.array.n),
                ::testing::ElementsAre(255));
    read("floats", PLUMB_VALUE_F32_ARRAY);
    EXPECT_THAT(std::span(static_cast<const float*>(value.as.array.data), value.as.array.n),
                ::testing::ElementsAre(0.25f));
    read("none", PLUMB_VALUE_I32_ARRAY);
    EXPECT_EQ(value.as.array.n, 0u);
    read("strings", PLUMB_VALUE_STR_ARRAY);
    ASSERT_EQ(value.as.array.n, 3u);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(to_view(static_cast<const plumb_str*>(value.as.array.data)[i]), tokens[i]);

    for (const char* key : {"wide", "doubles"}) {  // no type of the ABI holds them without loss
      EXPECT_EQ(opened.get(key, value), PLUMB_UNSUPPORTED) << key;
      EXPECT_EQ(value.type, uint32_t{PLUMB_VALUE_NONE});
    }
    EXPECT_EQ(opened.get("absent", value), PLUMB_NOT_FOUND);
    EXPECT_EQ(value.type, uint32_t{PLUMB_VALUE_NONE});

    const plumb_metadata* metadata = Opened::table().metadata(opened.model());
    EXPECT_EQ(to_view(metadata->key_at(metadata->context, 0)), "u8");
    EXPECT_EQ(to_view(metadata->key_at(metadata->context, 18)), "strings");
    EXPECT_EQ(metadata->key_at(metadata->context, 19).bytes, 0u);
  }
}

TEST(GgufStructure, TensorsAreRowMajorViews) {
  GgufWriter writer;
  writer.alignment = 64;
  writer.value<uint32_t>("general.alignment", 64);
  writer.tensor("m", {3, 2}, PLUMB_F32, f32_bytes({1, 2, 3, 4, 5, 6}));
  writer.tensor("q", {32}, PLUMB_Q8_0, Bytes(34, 7));
  const auto bytes = writer.bytes();
  Opened opened(bytes);
  ASSERT_EQ(opened.status(), PLUMB_OK) << opened.message();
  ASSERT_EQ(Opened::table().n_tensors(opened.model()), 2u);

  const plumb_tensor m = opened.tensor(0);
  EXPECT_EQ(to_view(m.name), "m");
  EXPECT_EQ(m.format, PLUMB_F32);
  EXPECT_EQ(m.rank, 2u);
  EXPECT_THAT(m.dims, ::testing::ElementsAre(2, 3, 1, 1));
  EXPECT_EQ(std::memcmp(m.data.data, bytes.data() + m.file_offset, m.data.bytes), 0);
  const plumb_tensor q = opened.tensor(1);
  EXPECT_EQ(q.data.bytes, 34u);
  EXPECT_EQ(q.file_offset, m.file_offset + 64);

  ErrorBuffer error;
  auto none = make_abi<plumb_tensor>();
  EXPECT_EQ(Opened::table().tensor_at(opened.model(), 2, &none, error), PLUMB_INVALID_ARGUMENT);

  Opened::table().done_with(opened.model(), 1);
  Opened::table().done_with(opened.model(), 2);
  EXPECT_THAT(opened.host().drops(), ::testing::ElementsAre(MemoryHost::Drop{q.file_offset, 34}));
  const auto done_with_bytes = Opened::table().done_with_bytes;
  done_with_bytes(opened.model(), 1, 30, 4);
  done_with_bytes(opened.model(), 1, 30, 5);  // leaves the tensor
  done_with_bytes(opened.model(), 1, UINT64_MAX, 2);
  done_with_bytes(opened.model(), 2, 0, 1);
  EXPECT_THAT(opened.host().drops(),
              ::testing::ElementsAre(MemoryHost::Drop{q.file_offset, 34},
                                     MemoryHost::Drop{q.file_offset + 30, 4}));
  opened.host().host().drop_pages = nullptr;  // a host may not offer it
  Opened::table().done_with(opened.model(), 0);
  done_with_bytes(opened.model(), 0, 0, 1);
}

struct Refusal {
  const char* name;
  Bytes bytes;
  plumb_status status;
  const char* message;
};

GgufWriter one_tensor() {
  GgufWriter writer;
  writer.tensor("a", {4}, PLUMB_F32, f32_bytes({1, 2, 3, 4}));
  return writer;
}

GgufWriter aligned(uint32_t alignment) {
  GgufWriter writer;
  writer.value<uint32_t>("general.alignment", alignment);
  return writer;
}

GgufWriter versioned(uint32_t version) {
  GgufWriter writer;
  writer.version = version;
  return writer;
}

TEST(GgufStructure, Refusals) {
  constexpr uint64_t kTebibyte = 1ull << 40;
  const Refusal refusals[] = {
      {"magic",
       {'G', 'G', 'M', 'L', 3, 0, 0, 0},
       PLUMB_UNSUPPORTED,
       "byte 0: \"GGML\", expected \"GGUF\""},
      {"version 1", versioned(1).bytes(), PLUMB_UNSUPPORTED,
       "byte 4: GGUF version 1, expected 2 or 3"},
      {"version 4", versioned(4).bytes(), PLUMB_UNSUPPORTED,
       "byte 4: GGUF version 4, expected 2 or 3"},
      {"big-endian", versioned(0x03000000).bytes(), PLUMB_UNSUPPORTED, "byte 4: a big-endian file"},
      {"duplicate key", GgufWriter().text("k", "a").text("k", "b").bytes(), PLUMB_CORRUPT,
       "key \"k\" again, first seen at byte 37"},
      {"empty key", GgufWriter().text("", "a").bytes(), PLUMB_CORRUPT,
       "byte 24: key \"\" of 0 bytes"},
      {"key with a line feed", GgufWriter().text("a\nb", "a").bytes(), PLUMB_CORRUPT,
       "byte 24: key \"a?b\" of 3 bytes"},
      {"bool 2", GgufWriter().raw("k", 7, Bytes{2}).bytes(), PLUMB_CORRUPT,
       "bool is 2, expected 0 or 1"},
      {"value type 13", GgufWriter().raw("k", 13, Bytes(8)).bytes(), PLUMB_CORRUPT,
       "byte 33: value type 13, expected 0 to 12"},
      {"alignment 0", aligned(0).bytes(), PLUMB_CORRUPT,
       "general.alignment is 0, expected a u32 that is a power of two from 8"},
      {"alignment 24", aligned(24).bytes(), PLUMB_CORRUPT, "general.alignment is 24"},
      {"alignment as text", GgufWriter().text("general.alignment", "32").bytes(), PLUMB_CORRUPT,
       "general.alignment is string"},
      {"duplicate tensor", one_tensor().tensor("a", {1}, PLUMB_F32, f32_bytes({1})).bytes(),
       PLUMB_CORRUPT, "tensor \"a\" is described twice, as number 0 and number 1"},
      {"long tensor name",
       GgufWriter().tensor(std::string(65, 'n'), {1}, PLUMB_F32, f32_bytes({1})).bytes(),
       PLUMB_CORRUPT, "of 65 bytes, expected 1 to 64"},
      {"no dimension",
       GgufWriter().tensor_at("a", {}, PLUMB_F32, 0).tensor_at("b", {1}, PLUMB_F32, 0).bytes(),
       PLUMB_CORRUPT, "tensor \"a\": byte 24: 0 dimensions, expected 1 to 4"},
      {"zero dimension", GgufWriter().tensor_at("a", {4, 0}, PLUMB_F32, 0).bytes(), PLUMB_CORRUPT,
       "a dimension is 0"},
      {"1 TiB", GgufWriter().tensor_at("a", {kTebibyte / 4}, PLUMB_F32, 0).bytes(), PLUMB_CORRUPT,
       "tensor \"a\" has 1099511627776 bytes at data offset 0, but the data section has 0 bytes"},
      {"2^66 bytes", GgufWriter().tensor_at("a", {1ull << 62, 4}, PLUMB_F32, 0).bytes(),
       PLUMB_CORRUPT, "more than 2^64 bytes"},
      {"offset + size wraps", one_tensor().tensor_at("b", {4}, PLUMB_F32, ~31ull).bytes(),
       PLUMB_CORRUPT, "at data offset 18446744073709551584"},
      {"overlap", one_tensor().tensor_at("b", {1}, PLUMB_F32, 0).bytes(), PLUMB_CORRUPT,
       "starts inside tensor \"a\""},
      {"unaligned tensor", one_tensor().tensor_at("b", {1}, PLUMB_F32, 4).bytes(), PLUMB_CORRUPT,
       "expected a multiple of 32"},
      {"half a block", GgufWriter().tensor_at("a", {48}, PLUMB_Q8_0, 0).bytes(), PLUMB_CORRUPT,
       "row of 48 values, expected a multiple of 32 for Q8_0"},
      {"foreign format", GgufWriter().tensor_at("a", {256}, 17, 0).bytes(), PLUMB_UNSUPPORTED,
       "tensor \"a\": byte 45: format IQ2_XS, expected one of F32 F16 BF16"},
      {"unknown format", GgufWriter().tensor_at("a", {256}, 0xfffffff0, 0).bytes(),
       PLUMB_UNSUPPORTED, "format type 4294967280"},
      {"activations as weights", GgufWriter().tensor_at("a", {32}, PLUMB_ACT_Q8, 0).bytes(),
       PLUMB_UNSUPPORTED, "format type 1000"},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.name);
    const Opened opened(refusal.bytes);
    EXPECT_EQ(opened.status(), refusal.status) << opened.message();
    EXPECT_THAT(opened.message(), HasSubstr(refusal.message));
  }
}

TEST(GgufStructure, MissingFileIsTheHostsError) {
  MemoryHost host;
  ErrorBuffer error;
  void* model = nullptr;
  EXPECT_EQ(Opened::table().open(&host.host(), to_abi("absent.gguf"), &model, error),
            PLUMB_NOT_FOUND);
  EXPECT_EQ(error.message(), "absent.gguf: no such file");
}

TEST(GgufStructure, RecognisesByItsHead) {
  const auto recognise = [](const Bytes& head) {
    return Opened::table().recognise(to_abi("any.bin"), {head.data(), head.size()}, nullptr);
  };
  EXPECT_EQ(recognise(one_tensor().bytes()), PLUMB_OK);
  EXPECT_EQ(recognise({'G', 'G', 'U', 'F', 3, 0, 0, 0}), PLUMB_OK);
  EXPECT_EQ(recognise({'G', 'G', 'U', 'F'}), PLUMB_UNSUPPORTED);
  EXPECT_EQ(recognise({'{', '"', 'a', '"'}), PLUMB_UNSUPPORTED);
  EXPECT_EQ(recognise({}), PLUMB_UNSUPPORTED);
}

}  // namespace
}  // namespace plumbline::test
