// Records that no host should write, through every fault. Oracle: a status instead of a crash; run
// with sanitizers. And the host's checking proxies, inside and out.
#include "backends/fault/fault.h"
#include "tests/support/fault_plugin.h"

namespace plumbline::test {
namespace {

constexpr uint32_t kHuge = 0xfffffff0u;

/// Ops of a kind with every number the same and slices that lead nowhere, or to 64 values.
std::vector<plumb_op> nonsense(uint32_t kind, plumb_slice room) {
  std::vector<plumb_op> ops;
  for (const uint32_t n_rows : {0u, 1u, kHuge}) {
    for (const uint32_t number : {0u, 1u, 32u, kHuge}) {
      for (const plumb_slice slice : {plumb_slice{}, room, plumb_slice{99, 4}}) {
        plumb_op op = make_op(kind, n_rows);
        std::vector<uint32_t> words(sizeof op.as / 4, number);
        std::memcpy(static_cast<void*>(&op.as), words.data(), sizeof op.as);
        switch (kind) {
          case PLUMB_OP_EMBED:
            op.as.embed.ids = op.as.embed.out = slice;
            break;
          case PLUMB_OP_RMS_NORM:
          case PLUMB_OP_LAYER_NORM:
            op.as.norm.in = op.as.norm.out = slice;
            op.as.norm.weight = op.as.norm.bias = 0;
            break;
          case PLUMB_OP_QUANTIZE:
            op.as.quantize.in = op.as.quantize.out = slice;
            break;
          case PLUMB_OP_MATMUL:
            op.as.matmul.in = op.as.matmul.out = slice;
            break;
          case PLUMB_OP_ROPE:
            op.as.rope.in = op.as.rope.out = op.as.rope.positions = slice;
            op.as.rope.cos_table = op.as.rope.sin_table = slice;
            break;
          case PLUMB_OP_KV_APPEND:
            op.as.kv_append.k = op.as.kv_append.v = op.as.kv_append.positions = slice;
            break;
          case PLUMB_OP_ATTEND:
            op.as.attend.q = op.as.attend.out = op.as.attend.positions = slice;
            break;
          default:
            op.as.elementwise.a = op.as.elementwise.b = op.as.elementwise.out = slice;
            break;
        }
        ops.push_back(op);
      }
    }
  }
  return ops;
}

TEST(HostileRecords, AreAnswered) {
  for (const fault::Fault* fault : fault::all_faults()) {
    Rig rig(broken("plumb.reference", fault->name));
    const plumb_slice room = rig.in_out(std::vector<float>(64));
    const plumb_handle kv = rig.kv(4, 2, 8);
    for (uint32_t kind = 0; kind <= PLUMB_OP_ARGMAX + 1; ++kind) {
      for (plumb_op op : nonsense(kind, room)) {
        if (kind == PLUMB_OP_ATTEND && op.n_rows == 1) op.as.attend.kv = kv;
        if (kind == PLUMB_OP_KV_APPEND && op.n_rows == 1) op.as.kv_append.kv = kv;
        ErrorBuffer error;
        // Planned or not.
        rig.table().execute(rig.self(), &op, 1, rig.worker(0), 0, 1, error);
        rig.table().plan(rig.self(), &op, 1, error);
        rig.table().execute(rig.self(), &op, 1, rig.worker(0), 0, 1, error);
        op.struct_bytes = 8;
        EXPECT_NE(rig.table().execute(rig.self(), &op, 1, rig.worker(0), 0, 1, error), PLUMB_OK);
      }
    }
    ErrorBuffer error;
    EXPECT_NE(rig.table().execute(rig.self(), nullptr, 1, rig.worker(0), 0, 1, error), PLUMB_OK);
    const plumb_op op = make_op(PLUMB_OP_ADD, 1);
    EXPECT_NE(rig.table().execute(rig.self(), &op, 1, 12345, 0, 1, error), PLUMB_OK);
    EXPECT_NE(rig.table().execute(rig.self(), &op, 1, rig.worker(0), 1, 1, error), PLUMB_OK);
  }
}

TEST(CheckingProxies, StandAroundBothBackends) {
  HostOptions options{.paths = {PLUMB_BUILD_PLUGIN_DIR},
                      .search_environment = false,
                      .search_user = false,
                      .search_install = false};
  options.check_threads = true;
  auto checked = Host::create(options);
  ASSERT_TRUE(checked) << checked.error().message;
  const auto found = checked->find<plumb_kernels>({.pin = "plumb.fault"});
  ASSERT_TRUE(found) << found.error().message;
  Rig rig({found->id, "", "", found->table, found->host,
           R"({"inner": "plumb.reference", "fault": "scaled", "amount": 1})"});
  const plumb_str numerics = found->table->numerics_of(rig.self());
  EXPECT_EQ(to_view(numerics), "reference-f64/1");
  const plumb_slice x = rig.input(std::vector<float>{1, -2});
  plumb_op op = make_op(PLUMB_OP_SCALE, 1);
  op.as.elementwise = {.a = x,
                       .b = {},
                       .out = rig.room(8),
                       .width = 2,
                       .function = 0,
                       .parameter = 1,
                       .reserved = 0};
  EXPECT_EQ(rig.execute(op, 2).status, PLUMB_OK);
  EXPECT_EQ(rig.values<float>(op.as.elementwise.out, 2), (std::vector<float>{2, -4}));
}

}  // namespace
}  // namespace plumbline::test
