// The Chrome trace. Oracle: its format's description, and spans made by hand.
#include "core/trace/chrome_trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plumb/ext/kernels.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using std::chrono::microseconds;

TEST(ChromeTrace, TellsTimesShapesAndRates) {
  const auto start = trace::Clock::now();
  const auto at = [&](int us) { return start + microseconds(us); };
  const model::OpInfo matmul{.name = "0.attn_q",
                             .layer = 0,
                             .weight = "blk.0.attn_q.weight",
                             .kind = PLUMB_OP_MATMUL,
                             .operands = {{.value = 1, .writer = "0.attn_norm"}}};
  const model::OpInfo attend{.name = "0.attend",
                             .layer = 0,
                             .kind = PLUMB_OP_ATTEND,
                             .operands = {{.value = 2, .writer = "0.attn_q_rope"},
                                          {.value = 3, .writer = ""},
                                          {.value = model::kNoValue, .writer = "0.kv_append"}}};
  trace::TimedRun run;
  run.title = "a \"title\"\n\xff";
  run.n_threads = 3;
  run.doors = {{"40 pick", at(30), at(35), "id 5"}};
  run.ops = {{&matmul, at(10), at(20), {{4, 2, 100}}, {4, 2, 50}},
             {&attend, at(20), at(21), {{4, 2, 50}, {4, 2, 1}, {0, 6, 20}}, {4, 2, 50}}};
  run.weight_bytes = [](const model::OpInfo& op, uint32_t n_rows) -> uint64_t {
    EXPECT_EQ(op.name, "0.attn_q");
    EXPECT_EQ(n_rows, 2u);
    return 5000;
  };
  const std::string text = trace::chrome_trace(run);
  EXPECT_LE(text.size(), trace::chrome_bytes_max(3));
  const json events = json::parse(text)["traceEvents"];
  ASSERT_EQ(events.size(), 6u);  // three names and three spans
  const json& pick = events[3];
  EXPECT_EQ(pick["ts"], 20);
  EXPECT_EQ(pick["dur"], 5);
  const json& product = events[4];
  EXPECT_EQ(product["ph"], "X");
  EXPECT_EQ(product["cat"], "matmul");
  EXPECT_EQ(product["ts"], 0);
  EXPECT_EQ(product["dur"], 10);
  EXPECT_EQ(product["args"]["inputs"], json({"0.attn_norm[2,100]"}));
  EXPECT_EQ(product["args"]["output"], "[2,50]");
  // 5000 bytes of weights and 4 * (200 + 100) of values in 10 us.
  EXPECT_DOUBLE_EQ(product["args"]["GB/s"], 0.62);
  // 4 * (100 + 2 + 120 + 100) bytes in 1 us.
  EXPECT_DOUBLE_EQ(events[5]["args"]["GB/s"], 1.288);
}

}  // namespace
}  // namespace plumbline::test
