// golden/cases/numerics.jsonl on every plugin: saturation, f16 sums, subnormals, nibble order,
// stable exponentials. The oracle is in the file.
#include <bit>
#include <cmath>

#include "loaded_plugins.h"
#include "tests/support/golden_cases.h"

namespace plumbline::test {

namespace {

using nlohmann::json;

std::vector<json> cases_of(const std::string& op) {
  std::vector<json> out;
  for (const json& line : read_jsonl(golden_path("cases/numerics.jsonl"))) {
    if (line["input"]["op"] == op) out.push_back(line);
  }
  EXPECT_FALSE(out.empty()) << op;
  return out;
}

std::vector<float> floats(const json& values) {
  std::vector<float> out;
  for (const json& x : values) out.push_back(x.is_string() ? -INFINITY : x.get<float>());  // "-inf"
  return out;
}

void expect_near(double actual, double expected, const json& params) {
  const double bound =
      params.value("rel_tol", 0.0) * std::fabs(expected) + params.value("abs_tol", 0.0);
  EXPECT_LE(std::fabs(actual - expected), bound) << actual << ", expected " << expected;
}

/// A row of Q8_0 with scale 1.
HostTensor q8_row(const std::vector<int>& codes) {
  HostTensor tensor{PLUMB_Q8_0,
                    {1, codes.size()},
                    std::vector<uint8_t>(codes.size() / 32 * sizeof(plumb_block_q8_0))};
  for (size_t b = 0; b < codes.size() / 32; ++b) {
    plumb_block_q8_0 block{0x3c00, {}};
    for (size_t i = 0; i < 32; ++i) block.qs[i] = static_cast<int8_t>(codes[b * 32 + i]);
    std::memcpy(tensor.data.data() + b * sizeof block, &block, sizeof block);
  }
  return tensor;
}

/// A row of 32 ones as Q4_1, all of it minimum: the sum of a block's activations is on its path.
HostTensor ones_as_minima() {
  const plumb_block_q4_1 block{0, 0x3c00, {}};
  HostTensor tensor{PLUMB_Q4_1, {1, 32}, std::vector<uint8_t>(sizeof block)};
  std::memcpy(tensor.data.data(), &block, sizeof block);
  return tensor;
}

}  // namespace

class NumericsCases : public EachPlugin {
 protected:
  float dot(const HostTensor& row, const std::vector<float>& x, plumb_format in_format) {
    const uint32_t n = static_cast<uint32_t>(x.size());
    const plumb_slice in = rig_.input(x);
    plumb_op op = make_op(PLUMB_OP_MATMUL, 1);
    op.as.matmul = {.weight = rig_.weight(row, PLUMB_USE_MATMUL),
                    .bias = 0,
                    .in = in_format == PLUMB_F32 ? in : rig_.quantised(in, 1, n),
                    .out = rig_.room(sizeof(float)),
                    .in_format = in_format,
                    .n_in = n,
                    .n_out = 1,
                    .reserved = 0};
    const Outcome outcome = rig_.execute(op);
    EXPECT_EQ(outcome.status, PLUMB_OK) << outcome.message;
    return rig_.values<float>(op.as.matmul.out, 1)[0];
  }

  std::vector<float> embed(const HostTensor& table) {
    const uint32_t n_rows = static_cast<uint32_t>(table.dims[0]);
    std::vector<int32_t> ids(n_rows);
    for (uint32_t i = 0; i < n_rows; ++i) ids[i] = static_cast<int32_t>(i);
    plumb_op op = make_op(PLUMB_OP_EMBED, n_rows);
    op.as.embed = {.weight = rig_.weight(table, PLUMB_USE_EMBED),
                   .ids = rig_.input(ids),
                   .out = rig_.room(table.dims[0] * table.dims[1] * sizeof(float))};
    const Outcome outcome = rig_.execute(op);
    EXPECT_EQ(outcome.status, PLUMB_OK) << outcome.message;
    return rig_.values<float>(op.as.embed.out, table.dims[0] * table.dims[1]);
  }

  HostTensor f16_table(const std::vector<uint16_t>& bits, uint64_t width) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(bits.data());
    return {
        PLUMB_F16, {bits.size() / width, width}, {bytes, bytes + bits.size() * sizeof(uint16_t)}};
  }
};

TEST_P(NumericsCases, N01AndN11IntegerDotsNeitherSaturateNorWrap) {
  for (const json& line : cases_of("dot_i8")) {
    SCOPED_TRACE(line["id"]);
    const HostTensor row = q8_row(line["input"]["value"]["x"]);
    const std::vector<float> y = floats(line["input"]["value"]["y"]);
    // Codes run to -127: an activation of -128 has a scale of its own, which costs roundings, 1e-6
    // at most here.
    for (const plumb_format in_format : {PLUMB_F32, PLUMB_ACT_Q8}) {
      expect_near(dot(row, y, in_format), line["expected"]["sum"],
                  {{"rel_tol", in_format == PLUMB_F32 ? 0.0 : 1e-6}});
    }
  }
}

TEST_P(NumericsCases, N03SumsOfABlockOutgrowF16) {
  for (const json& line : cases_of("q8_1_block")) {
    SCOPED_TRACE(line["id"]);
    const std::vector<float> x = floats(line["input"]["value"]["x"]);
    for (const HostTensor& ones : {q8_row(std::vector<int>(32, 1)), ones_as_minima()}) {
      expect_near(dot(ones, x, PLUMB_ACT_Q8), line["expected"]["dot_with_ones"], line["expected"]);
    }
  }
}

TEST_P(NumericsCases, N05EveryF16WeightIsItsF32) {
  // The oracle of all of them is f16_to_f32 of the SDK, which its own test holds against the file.
  std::vector<uint16_t> bits;
  for (uint32_t half = 0; half < 0x10000; ++half) {
    if ((half & 0x7c00) != 0x7c00) bits.push_back(static_cast<uint16_t>(half));
  }
  ASSERT_EQ(bits.size(), cases_of("f16_to_f32_all")[0]["expected"]["count"].get<size_t>());
  const std::vector<float> values = embed(f16_table(bits, 62));
  for (size_t i = 0; i < bits.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(values[i]), std::bit_cast<uint32_t>(f16_to_f32(bits[i])))
        << "half " << bits[i];
  }

  const json some = cases_of("f16_to_f32")[0];
  bits.clear();
  for (const json& hex : some["input"]["value"]["bits"]) {
    bits.push_back(static_cast<uint16_t>(std::stoul(hex.get<std::string>(), nullptr, 16)));
  }
  EXPECT_EQ(embed(f16_table(bits, bits.size())), floats(some["expected"]["f32"]));
}

TEST_P(NumericsCases, N07NibblesAndScalesOfQ4K) {
  const json line = cases_of("dot_q4_k")[0];
  const json& value = line["input"]["value"];
  const std::string hex = value["block_hex"];
  HostTensor row{PLUMB_Q4_K, {1, PLUMB_QK_K}, {}};
  for (size_t i = 0; i < hex.size(); i += 2) {
    row.data.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  std::vector<float> first = embed(row);
  first.resize(8);
  EXPECT_EQ(first, floats(line["expected"]["dequant_first8"]));

  std::vector<float> x;
  for (const int code : value["q8"])
    x.push_back(static_cast<float>(code * value["q8_scale"].get<double>()));
  expect_near(dot(row, x, PLUMB_F32), line["expected"]["dot"], line["expected"]);
}

TEST_P(NumericsCases, N09SiluOfExtremes) {
  const json line = cases_of("silu")[0];
  const std::vector<float> x = floats(line["input"]["value"]["x"]);
  plumb_op op = make_op(PLUMB_OP_ACTIVATE, 1);
  op.as.elementwise = {.a = rig_.input(x),
                       .b = {},
                       .out = rig_.room(x.size() * sizeof(float)),
                       .width = static_cast<uint32_t>(x.size()),
                       .function = PLUMB_ACT_SILU,
                       .parameter = 0,
                       .reserved = 0};
  ASSERT_EQ(rig_.execute(op).status, PLUMB_OK);
  const std::vector<float> y = rig_.values<float>(op.as.elementwise.out, x.size());
  for (size_t i = 0; i < y.size(); ++i) expect_near(y[i], line["expected"]["y"][i], line["params"]);
}

/// Softmax alone: keys (x_s, 0, ...), the query (1, 0, ...), values the rows of the identity. A
/// score of -inf is no number to attend; it is what a mask means, so that row is hidden.
TEST_P(NumericsCases, N09SoftmaxOfExtremes) {
  for (const json& line : cases_of("softmax")) {
    SCOPED_TRACE(line["id"]);
    const std::vector<float> x = floats(line["input"]["value"]["x"]);
    const uint32_t n = static_cast<uint32_t>(x.size());
    std::vector<float> k(n * n), v(n * n), q(n);
    std::vector<int32_t> positions(n);
    q[0] = 1;
    for (uint32_t s = 0; s < n; ++s) {
      k[s * n] = std::isinf(x[s]) ? 0 : x[s];
      v[s * n + s] = 1;
      positions[s] = std::isinf(x[s]) ? 1 : 0;
    }
    const plumb_handle kv = rig_.kv(n, 1, n);
    ASSERT_EQ(rig_.table().kv_import(rig_.self(), kv, 0, n, k.data(), v.data(), positions.data(),
                                     nullptr),
              PLUMB_OK);
    plumb_op op = make_op(PLUMB_OP_ATTEND, 1);
    op.as.attend.kv = kv;
    op.as.attend.q = rig_.input(q);
    op.as.attend.out = rig_.room(n * sizeof(float));
    op.as.attend.positions = rig_.input(std::vector<int32_t>{0});
    op.as.attend.n_rows_kv = n;
    op.as.attend.n_heads = 1;
    op.as.attend.scale = 1;
    const Outcome outcome = rig_.execute(op);
    ASSERT_EQ(outcome.status, PLUMB_OK) << outcome.message;
    const std::vector<float> y = rig_.values<float>(op.as.attend.out, n);
    for (uint32_t s = 0; s < n; ++s) expect_near(y[s], line["expected"]["y"][s], line["params"]);
  }
}

PLUMB_FOR_EACH_PLUGIN(NumericsCases);

}  // namespace plumbline::test
