// Arguments that no sane host would pass, and numbers that no sane model makes: an error code with
// a place, never a crash, never a byte outside the slices. The oracle is plumb/ext/kernels.h.
#include <cmath>
#include <limits>

#include "loaded_plugins.h"

namespace plumbline::test {

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

/// One valid op of each kind, to be broken in one place at a time.
class Hostile : public EachPlugin {
 protected:
  static constexpr uint32_t T = 3, kWidth = 64, kOut = 20, V = 9, H = 4, K = 2, C = 16, S = 8;

  void SetUp() override {
    Random random(23);
    matrix_ = random_tensor(random, PLUMB_Q8_0, {kOut, kWidth});
    table_ = random_tensor(random, PLUMB_F16, {V, kWidth});
    vector_ = random_tensor(random, PLUMB_F32, {kWidth});
    bias_ = random_tensor(random, PLUMB_F32, {kOut});
    x_ = rig_.in_out(random_values(random, T * kWidth));
    out_ = rig_.room(T * kWidth * sizeof(float));
    positions_ = rig_.input(std::vector<int32_t>{5, 6, 7});
    ids_ = rig_.in_out(std::vector<int32_t>{0, 8, 3});
    q8_ = rig_.quantised(x_, T, kWidth);
    cosines_ = rig_.input(random_values(random, S * C / 2));
    matmul_weight_ = rig_.weight(matrix_, PLUMB_USE_MATMUL);
    embed_weight_ = rig_.weight(table_, PLUMB_USE_EMBED);
    norm_weight_ = rig_.weight(vector_, PLUMB_USE_VECTOR);
    bias_weight_ = rig_.weight(bias_, PLUMB_USE_VECTOR);
    kv_ = rig_.kv(S + 2, K, C);
    plumb_op append = make_op(PLUMB_OP_KV_APPEND, S);
    append.as.kv_append = {kv_,
                           rig_.input(random_values(random, S * K * C)),
                           rig_.input(random_values(random, S * K * C)),
                           rig_.input(std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}),
                           0,
                           0};
    ASSERT_EQ(rig_.execute(append).status, PLUMB_OK);
  }

  plumb_op embed() const {
    plumb_op op = make_op(PLUMB_OP_EMBED, T);
    op.as.embed = {embed_weight_, ids_, out_};
    return op;
  }
  plumb_op norm(uint32_t kind = PLUMB_OP_RMS_NORM) const {
    plumb_op op = make_op(kind, T);
    op.as.norm = {x_, out_, norm_weight_, 0, 1, kWidth, 1e-6f, 0};
    return op;
  }
  plumb_op quantize() const {
    plumb_op op = make_op(PLUMB_OP_QUANTIZE, T);
    op.as.quantize = {x_, q8_, kWidth, 0};
    return op;
  }
  plumb_op matmul(plumb_format in_format = PLUMB_F32) const {
    plumb_op op = make_op(PLUMB_OP_MATMUL, T);
    op.as.matmul = {matmul_weight_,
                    bias_weight_,
                    in_format == PLUMB_F32 ? x_ : q8_,
                    out_,
                    in_format,
                    kWidth,
                    kOut,
                    0};
    return op;
  }
  plumb_op rope() const {
    plumb_op op = make_op(PLUMB_OP_ROPE, T);
    op.as.rope = {x_, out_, positions_, cosines_, cosines_, S, H, C, C, PLUMB_ROPE_HALF, 0};
    return op;
  }
  plumb_op attend() const {
    plumb_op op = make_op(PLUMB_OP_ATTEND, T);
    op.as.attend = {kv_, x_, out_, positions_, {}, S, S - T, H, PLUMB_MASK_CAUSAL, 0, 0.25f, 0, 0};
    return op;
  }
  plumb_op elementwise(uint32_t kind) const {
    plumb_op op = make_op(kind, T);
    op.as.elementwise = {x_, x_, out_, kWidth, PLUMB_ACT_SILU, 2.0f, 0};
    return op;
  }
  plumb_op argmax() const {
    plumb_op op = make_op(PLUMB_OP_ARGMAX, T);
    op.as.argmax = {x_, ids_, kWidth, 0};
    return op;
  }
  std::vector<plumb_op> all() const {
    return {embed(),
            norm(),
            norm(PLUMB_OP_LAYER_NORM),
            quantize(),
            matmul(),
            matmul(PLUMB_ACT_Q8),
            rope(),
            attend(),
            elementwise(PLUMB_OP_ACTIVATE),
            elementwise(PLUMB_OP_ADD),
            elementwise(PLUMB_OP_SCALE),
            elementwise(PLUMB_OP_SOFTCAP),
            argmax()};
  }

  /// An error of the expected code, with a text, that names the op.
  void expect_refused(const plumb_op& op, const char* what,
                      plumb_status code = PLUMB_INVALID_ARGUMENT) {
    SCOPED_TRACE(std::string(what) + ", op kind " + std::to_string(op.kind));
    const Outcome outcome = rig_.execute(op, 2);
    EXPECT_EQ(outcome.status, code) << status_name(outcome.status) << " " << outcome.message;
    EXPECT_EQ(outcome.op_id, op.id);
    EXPECT_FALSE(outcome.message.empty());
  }

  void write(plumb_slice to, uint64_t value_at, float value) {
    to.offset_bytes += value_at * sizeof(float);
    ASSERT_EQ(rig_.table().write(rig_.self(), to, &value, sizeof value, nullptr), PLUMB_OK);
  }

  HostTensor matrix_, table_, vector_, bias_;
  plumb_slice x_, out_, positions_, ids_, q8_, cosines_;
  plumb_handle matmul_weight_, embed_weight_, norm_weight_, bias_weight_, kv_;
};

// The oracle is the interface: a name that plumb_kernels.variant does not give is the config's
// mistake, whether the backend has variants or not.
TEST_P(Hostile, AVariantThatIsNotThereIsRefused) {
  auto config = make_abi<plumb_kernels_config>();
  config.n_workers_max = 1;
  config.options_json = to_abi("{}");
  config.variant = to_abi("abacus");
  void* self = nullptr;
  ErrorBuffer error;
  EXPECT_EQ(rig_.table().create(nullptr, &config, &self, error), PLUMB_INVALID_CONFIG);
  EXPECT_NE(error.message().find("abacus"), std::string::npos) << error.message();
}

TEST_P(Hostile, TheUnbrokenOpsAreAccepted) {
  for (const plumb_op& op : all()) {
    const Outcome outcome = rig_.execute(op, 3);
    EXPECT_EQ(outcome.status, PLUMB_OK) << "op kind " << op.kind << ": " << outcome.message;
  }
}

TEST_P(Hostile, RecordsThatCannotBeRead) {
  for (plumb_op op : all()) {
    plumb_op broken = op;
    broken.struct_bytes = 16;  // short of the op itself
    EXPECT_EQ(rig_.execute(broken).status, PLUMB_INVALID_ARGUMENT) << "op kind " << op.kind;
    broken = op;
    broken.n_rows = 0;
    expect_refused(broken, "no rows");
    broken = op;
    broken.n_rows = 1u << 30;
    expect_refused(broken, "rows past every slice");
    broken = op;
    broken.kind = 0xbad;
    expect_refused(broken, "unknown kind", PLUMB_UNSUPPORTED);
  }
  EXPECT_EQ(rig_.table().execute(rig_.self(), nullptr, 1, rig_.worker(0), 0, 1, nullptr),
            PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(rig_.table().execute(rig_.self(), nullptr, 0, rig_.worker(0), 0, 1, nullptr), PLUMB_OK);
}

TEST_P(Hostile, SlicesThatAreNotThere) {
  const auto break_slice = [&](const plumb_op& valid, auto&& slice_of, const char* name) {
    for (const plumb_slice bad :
         {plumb_slice{0, 0}, plumb_slice{0xdeadbeef, 0}, plumb_slice{matmul_weight_, 0},
          plumb_slice{slice_of(valid).buffer, UINT64_MAX - 3},
          plumb_slice{slice_of(valid).buffer, 1u << 20},
          plumb_slice{slice_of(valid).buffer, slice_of(valid).offset_bytes + 2}}) {
      plumb_op broken = valid;
      slice_of(broken) = bad;
      expect_refused(broken, name);
    }
  };
#define PLUMB_BREAK(op, field) \
  break_slice(                 \
      op, [](auto& o) -> auto& { return o.as.field; }, #field)
  PLUMB_BREAK(embed(), embed.ids);
  PLUMB_BREAK(embed(), embed.out);
  PLUMB_BREAK(norm(), norm.in);
  PLUMB_BREAK(norm(), norm.out);
  PLUMB_BREAK(quantize(), quantize.in);
  PLUMB_BREAK(matmul(), matmul.in);
  PLUMB_BREAK(matmul(), matmul.out);
  PLUMB_BREAK(rope(), rope.in);
  PLUMB_BREAK(rope(), rope.out);
  PLUMB_BREAK(rope(), rope.positions);
  PLUMB_BREAK(rope(), rope.cos_table);
  PLUMB_BREAK(rope(), rope.sin_table);
  PLUMB_BREAK(attend(), attend.q);
  PLUMB_BREAK(attend(), attend.out);
  PLUMB_BREAK(attend(), attend.positions);
  PLUMB_BREAK(elementwise(PLUMB_OP_ADD), elementwise.a);
  PLUMB_BREAK(elementwise(PLUMB_OP_ADD), elementwise.b);
  PLUMB_BREAK(elementwise(PLUMB_OP_SCALE), elementwise.out);
  PLUMB_BREAK(argmax(), argmax.in);
  PLUMB_BREAK(argmax(), argmax.out);
#undef PLUMB_BREAK
  plumb_op past_the_end = quantize();
  past_the_end.as.quantize.out.offset_bytes += 1u << 20;
  expect_refused(past_the_end, "quantize.out");
}

TEST_P(Hostile, HandlesThatAreNotAlive) {
  const plumb_handle freed = rig_.weight(matrix_, PLUMB_USE_MATMUL);
  rig_.table().release(rig_.self(), freed);
  plumb_op op = matmul();
  for (const plumb_handle bad :
       {plumb_handle{0}, plumb_handle{0x1234}, freed, kv_, x_.buffer, embed_weight_}) {
    op.as.matmul.weight = bad;
    expect_refused(op, "matmul.weight");
  }
  op = matmul();
  op.as.matmul.bias = freed;
  expect_refused(op, "matmul.bias");
  op = embed();
  op.as.embed.weight = matmul_weight_;
  expect_refused(op, "embed.weight prepared for matmul");
  op = norm();
  op.as.norm.weight = kv_;
  expect_refused(op, "norm.weight");
  op = attend();
  for (const plumb_handle bad : {plumb_handle{0}, matmul_weight_, plumb_handle{UINT64_MAX}}) {
    op.as.attend.kv = bad;
    expect_refused(op, "attend.kv");
  }
  const plumb_op fine = norm();
  for (const plumb_handle bad : {plumb_handle{0}, kv_, plumb_handle{77}}) {
    EXPECT_EQ(rig_.table().execute(rig_.self(), &fine, 1, bad, 0, 1, nullptr),
              PLUMB_INVALID_ARGUMENT)
        << "worker";
  }
  EXPECT_EQ(rig_.table().execute(rig_.self(), &fine, 1, rig_.worker(0), 1, 1, nullptr),
            PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(rig_.table().execute(rig_.self(), &fine, 1, rig_.worker(0), 0, 0, nullptr),
            PLUMB_INVALID_ARGUMENT);
  rig_.table().release(rig_.self(), 12345);  // freeing what is not there is ignored
  rig_.table().free(rig_.self(), 0);
  rig_.table().kv_destroy(rig_.self(), matmul_weight_);
}

TEST_P(Hostile, ShapesThatDoNotFit) {
  plumb_op op = matmul();
  op.as.matmul.n_in = kWidth - 32;
  expect_refused(op, "n_in is not the weight's");
  op = matmul();
  op.as.matmul.n_out = kOut - 1;
  expect_refused(op, "n_out is not the weight's");
  op = matmul();
  op.as.matmul.n_in = 0;
  expect_refused(op, "n_in 0");
  op = matmul();
  op.as.matmul.bias = norm_weight_;
  expect_refused(op, "bias of another length");
  op = norm();
  op.as.norm.width = kWidth - 1;
  expect_refused(op, "width is not the weight's");
  op = norm();
  op.as.norm.weight = 0;
  op.as.norm.width = 0;
  expect_refused(op, "width 0");
  op = norm();
  op.as.norm.n_groups = UINT32_MAX;
  expect_refused(op, "groups past the slice");
  op = rope();
  op.as.rope.n_rotated = C + 2;
  expect_refused(op, "rotated more than the head");
  op = rope();
  op.as.rope.n_rotated = C - 1;
  expect_refused(op, "rotated an odd number");
  op = rope();
  op.as.rope.n_heads = op.as.rope.head_width = UINT32_MAX;
  op.as.rope.n_rotated = 2;
  expect_refused(op, "a size that overflows");
  op = attend();
  op.as.attend.n_heads = 3;
  expect_refused(op, "heads that are no multiple");
  op = attend();
  op.as.attend.n_heads = 0;
  expect_refused(op, "no heads");
  op = attend();
  op.as.attend.n_rows_kv = S + 1;
  expect_refused(op, "more rows than are held");
  op = attend();
  op.as.attend.mask = PLUMB_MASK_WINDOW;
  expect_refused(op, "a window of 0");
  op = attend();
  op.as.attend.mask = PLUMB_MASK_BITMAP;
  expect_refused(op, "no bitmap");
  op.as.attend.bitmap = rig_.input(std::vector<uint64_t>{1, 3, 7});
  op.as.attend.first_row = S - T - 1;
  expect_refused(op, "new rows that are not the last");
  op = argmax();
  op.as.argmax.width = 0;
  expect_refused(op, "width 0");
  op = elementwise(PLUMB_OP_SOFTCAP);
  op.as.elementwise.parameter = 0;
  expect_refused(op, "a cap of 0");
}

TEST_P(Hostile, UnknownEnumValues) {
  const auto expect_error = [&](const plumb_op& op, const char* what) {
    const plumb_status status = rig_.execute(op).status;
    EXPECT_TRUE(status == PLUMB_INVALID_ARGUMENT || status == PLUMB_UNSUPPORTED)
        << what << ": " << status_name(status);
  };
  plumb_op op = rope();
  op.as.rope.pairing = 2;
  expect_error(op, "pairing");
  op = attend();
  op.as.attend.mask = 3;
  expect_error(op, "mask");
  op = elementwise(PLUMB_OP_ACTIVATE);
  op.as.elementwise.function = 3;
  expect_error(op, "function");
  op = matmul();
  op.as.matmul.in_format = PLUMB_F16;
  expect_error(op, "in_format");
}

TEST_P(Hostile, IndicesOutOfRange) {
  for (const int32_t bad : {-1, static_cast<int32_t>(V), INT32_MIN, INT32_MAX}) {
    plumb_op op = embed();
    op.as.embed.ids = rig_.input(std::vector<int32_t>{0, 1, bad});
    expect_refused(op, "an id outside");
  }
  for (const int32_t bad : {-1, static_cast<int32_t>(S), INT32_MIN, INT32_MAX}) {
    plumb_op op = rope();
    op.as.rope.positions = rig_.input(std::vector<int32_t>{bad, 1, 2});
    expect_refused(op, "a position outside the tables");
  }
  // Indices that the op itself writes over.
  const auto ones = [&] { return rig_.in_out(std::vector<int32_t>(T * kWidth, 1)); };
  plumb_op op = embed();
  op.as.embed.out = ones();
  op.as.embed.ids = {op.as.embed.out.buffer, op.as.embed.out.offset_bytes + sizeof(int32_t)};
  expect_refused(op, "ids under out");
  op = rope();
  op.as.rope.out = ones();
  op.as.rope.positions = {op.as.rope.out.buffer, op.as.rope.out.offset_bytes + sizeof(int32_t)};
  expect_refused(op, "positions under out");
  op = attend();
  op.as.attend.positions = rig_.input(std::vector<int32_t>{5, -1, 7});
  expect_refused(op, "a negative position");
  op = attend();
  op.as.attend.mask = PLUMB_MASK_WINDOW;
  op.as.attend.window = 2;
  op.as.attend.positions = rig_.input(std::vector<int32_t>{5, 6, 90});
  expect_refused(op, "a query that sees no row");
}

TEST_P(Hostile, NumbersThatAreNone) {
  rig_.run_parts(Rig::Parts::kLastFirst);
  const auto with = [&](const plumb_op& op, plumb_slice at, uint64_t value_at, float value,
                        const char* what) {
    SCOPED_TRACE("value " + std::to_string(value_at));
    const plumb_slice one{at.buffer, at.offset_bytes + value_at * sizeof(float)};
    const float before = rig_.values<float>(one, 1)[0];
    write(at, value_at, value);
    expect_refused(op, what, PLUMB_NUMERIC);
    write(at, value_at, before);
  };
  plumb_op odd_argmax = argmax();  // its last values are no whole vector
  odd_argmax.as.argmax.width = kWidth - 7;
  for (const float bad : {kNaN, -kNaN, kInfinity, -kInfinity}) {
    for (uint64_t at = 0; at < T * kWidth; ++at) {
      with(quantize(), x_, at, bad, "quantize of no number");
      with(argmax(), x_, at, bad, "argmax of no number");
      with(attend(), x_, at, bad, "a score that is no number");
      if (at < T * (kWidth - 7)) with(odd_argmax, x_, at, bad, "argmax of no number");
    }
  }
}

TEST_P(Hostile, KeysThatAreNoNumbersMatterWhereTheyAreSeen) {
  const auto attend_with = [&](float bad, uint64_t at, uint32_t row) {
    std::vector<float> k(S * K * C, 0.5f);
    k[at] = bad;
    plumb_op append = make_op(PLUMB_OP_KV_APPEND, S);
    append.as.kv_append = {rig_.kv(S + 2, K, C),
                           rig_.input(k),
                           rig_.input(std::vector<float>(S * K * C, 0.25f)),
                           rig_.input(std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}),
                           0,
                           0};
    EXPECT_EQ(rig_.execute(append).status, PLUMB_OK);
    plumb_op op = attend();
    op.n_rows = 1;
    op.as.attend.kv = append.as.kv_append.kv;
    op.as.attend.positions = rig_.input(std::vector<int32_t>{static_cast<int32_t>(row)});
    return op;
  };
  for (const float bad : {kNaN, kInfinity}) {
    for (uint64_t at = 0; at < S * K * C; at += 37) {
      const auto row = static_cast<uint32_t>(at / (K * C));
      expect_refused(attend_with(bad, at, row), "a key that is seen", PLUMB_NUMERIC);
      if (row > 0) {
        EXPECT_EQ(rig_.execute(attend_with(bad, at, row - 1)).status, PLUMB_OK) << "value " << at;
      }
    }
  }
}

TEST_P(Hostile, NormsAndActivationsLetThemPass) {
  // Only quantize, attend and argmax must stop them: the others compute.
  write(x_, 5, kNaN);
  for (const plumb_op& op : {norm(), matmul(), rope(), elementwise(PLUMB_OP_ADD)}) {
    EXPECT_EQ(rig_.execute(op).status, PLUMB_OK) << "op kind " << op.kind;
    EXPECT_TRUE(std::isnan(rig_.values<float>(out_, 6)[5])) << "op kind " << op.kind;
  }
}

TEST_P(Hostile, TensorsThatAreNotWhatTheySay) {
  const auto prepare = [&](const HostTensor& tensor, uint32_t uses) {
    plumb_handle weight = 0;
    return rig_.try_weight(tensor, uses, &weight).status;
  };
  HostTensor tensor = matrix_;
  tensor.data.pop_back();
  EXPECT_EQ(prepare(tensor, PLUMB_USE_MATMUL), PLUMB_INVALID_ARGUMENT) << "a byte short";
  tensor = matrix_;
  tensor.dims = {UINT64_MAX / 2, kWidth};
  EXPECT_EQ(prepare(tensor, PLUMB_USE_MATMUL), PLUMB_INVALID_ARGUMENT) << "a size that overflows";
  tensor = matrix_;
  tensor.dims = {kOut, 0};
  EXPECT_NE(prepare(tensor, PLUMB_USE_MATMUL), PLUMB_OK) << "no columns";
  tensor = matrix_;
  tensor.dims = {kOut * 2, kWidth / 2 + 1};
  EXPECT_EQ(prepare(tensor, PLUMB_USE_MATMUL), PLUMB_UNSUPPORTED) << "no whole number of blocks";
  tensor = matrix_;
  tensor.format = 999;
  EXPECT_EQ(prepare(tensor, PLUMB_USE_MATMUL), PLUMB_UNSUPPORTED) << "unknown format";
  EXPECT_EQ(prepare(matrix_, 0), PLUMB_INVALID_ARGUMENT) << "no use";
  EXPECT_NE(prepare(matrix_, 64), PLUMB_OK) << "unknown use";
  EXPECT_NE(prepare(matrix_, PLUMB_USE_VECTOR), PLUMB_OK) << "a matrix as a vector";
  EXPECT_NE(prepare(vector_, PLUMB_USE_MATMUL), PLUMB_OK) << "a vector as a matrix";

  plumb_tensor view = matrix_.view();
  view.struct_bytes = 8;
  uint64_t bytes = 0;
  EXPECT_EQ(rig_.table().prepare_bytes(rig_.self(), &view, PLUMB_USE_MATMUL, &bytes, nullptr),
            PLUMB_INVALID_ARGUMENT);
}

TEST_P(Hostile, ScalesThatAreNotFiniteAreCorrupt) {
  Random random(29);
  for (const FormatInfo& format : kFormats) {
    if (!format.is_quantised) continue;
    for (const uint16_t bad : {0x7c00, 0xfc00, 0x7e00}) {
      HostTensor tensor = random_tensor(random, format.format, {4, format.block_values * 2});
      visit_block_type(format.format, [&]<typename Block>(std::type_identity<Block>) {
        if constexpr (requires(Block block) { block.d; }) {
          std::memcpy(tensor.data.data() + 5 * sizeof(Block) + offsetof(Block, d), &bad,
                      sizeof bad);
        }
      });
      plumb_handle weight = 0;
      const Outcome outcome = rig_.try_weight(tensor, PLUMB_USE_MATMUL, &weight);
      EXPECT_EQ(outcome.status, PLUMB_CORRUPT) << format.name;
      EXPECT_NE(outcome.message.find("block 5"), std::string::npos)
          << format.name << ": " << outcome.message;
    }
  }
}

TEST_P(Hostile, MemoryThatCannotBeHad) {
  plumb_handle buffer = 0;
  EXPECT_NE(rig_.table().alloc(rig_.self(), UINT64_MAX, 0, &buffer, nullptr), PLUMB_OK);
  uint8_t byte = 0;
  EXPECT_EQ(rig_.table().read(rig_.self(), {x_.buffer, UINT64_MAX}, &byte, 1, nullptr),
            PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(rig_.table().write(rig_.self(), {x_.buffer, 1u << 20}, &byte, 1, nullptr),
            PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(rig_.table().read(rig_.self(), {0, 0}, &byte, 1, nullptr), PLUMB_INVALID_ARGUMENT);
  if (rig_.table().host_pointer != nullptr) {
    EXPECT_EQ(rig_.table().host_pointer(rig_.self(), {0x999, 0}), nullptr);
    EXPECT_EQ(rig_.table().host_pointer(rig_.self(), {x_.buffer, 1u << 20}), nullptr);
  }
}

TEST_P(Hostile, WhatSupportsRefusesFails) {
  plumb_op_query query = query_of(PLUMB_OP_MATMUL, 64, 16);
  for (const plumb_format format : {PLUMB_I32, 999, PLUMB_ACT_Q8, -1}) {
    query.weight_format = format;
    EXPECT_FALSE(rig_.supports(query)) << format;
  }
  query.weight_format = PLUMB_Q4_K;
  EXPECT_FALSE(rig_.supports(query)) << "half a block";
  query.weight_format = PLUMB_Q8_0;
  query.in_format = PLUMB_F16;
  EXPECT_FALSE(rig_.supports(query)) << "activations of another format";
  EXPECT_FALSE(rig_.supports(query_of(PLUMB_OP_QUANTIZE, 33)));
  EXPECT_FALSE(rig_.supports(query_of(PLUMB_OP_ACTIVATE, 32, 0, 3)));
  EXPECT_FALSE(rig_.supports(query_of(PLUMB_OP_ROPE, 0, 0, 2)));
  EXPECT_FALSE(rig_.supports(query_of(PLUMB_OP_ATTEND, 0, 0, 3)));
  EXPECT_FALSE(rig_.supports(query_of(0)));
  EXPECT_FALSE(rig_.supports(query_of(0xbad)));
  query = query_of(PLUMB_OP_ADD, 32);
  query.struct_bytes = 8;
  EXPECT_FALSE(rig_.supports(query)) << "short struct";
  EXPECT_EQ(rig_.table().supports(rig_.self(), nullptr, nullptr), PLUMB_INVALID_ARGUMENT);
}

PLUMB_FOR_EACH_PLUGIN(Hostile);

}  // namespace plumbline::test
