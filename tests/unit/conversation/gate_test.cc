// Who comes in when. Oracle: the rules in gate.h.
#include "core/conversation/gate.h"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>
#include <vector>

namespace plumbline::test {
namespace {

using conversation::Gate;
using conversation::WhenBusy;
using testing::HasSubstr;

// Runs something in another thread, to its end.
template <typename Do>
void elsewhere(Do&& act) {
  std::thread(std::forward<Do>(act)).join();
}

TEST(Gate, TurnsOthersAwayWhereTheRuleIsToReject) {
  Gate gate(WhenBusy::kReject);
  {
    const auto inside = gate.enter();
    ASSERT_TRUE(inside);
    elsewhere([&] {
      const auto refused = gate.enter();
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, PLUMB_INVALID_ARGUMENT);
      EXPECT_THAT(refused.error().message, HasSubstr("busy"));
    });
  }
  elsewhere([&] { EXPECT_TRUE(gate.enter()); });
}

TEST(Gate, LetsThemInInTheOrderInWhichTheyCame) {
  Gate gate(WhenBusy::kQueue);
  std::vector<int> order;
  std::vector<std::thread> threads;
  {
    const auto inside = gate.enter();
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        const auto pass = gate.enter();
        ASSERT_TRUE(pass);
        order.push_back(i);
      });
      while (gate.n_waiting() != static_cast<size_t>(i) + 1) std::this_thread::yield();
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Gate, QueuesNoMoreThanItSays) {
  Gate gate(WhenBusy::kQueue);
  std::vector<std::thread> threads;
  {
    const auto inside = gate.enter();
    for (size_t i = 0; i < Gate::kQueueMax; ++i)
      threads.emplace_back([&] { EXPECT_TRUE(gate.enter()); });
    while (gate.n_waiting() != Gate::kQueueMax) std::this_thread::yield();
    elsewhere([&] {
      const auto refused = gate.enter();
      ASSERT_FALSE(refused);
      EXPECT_THAT(refused.error().message, HasSubstr("16 requests wait already"));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Gate, RefusesARequestThatWouldWaitForItself) {
  Gate gate(WhenBusy::kQueue);
  const auto inside = gate.enter();
  const auto again = gate.enter();
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("out of the middle of an answer"));
}

TEST(Gate, CancelsWhoIsInsideAndNobodyElse) {
  Gate gate(WhenBusy::kQueue);
  gate.cancel();  // nobody is there
  uint64_t first = 0;
  {
    const auto inside = gate.enter();
    first = inside->epoch();
    EXPECT_FALSE(inside->is_cancelled());
    elsewhere([&] { gate.cancel(); });
    EXPECT_TRUE(inside->is_cancelled());
  }
  gate.cancel();  // it has left
  const auto next = gate.enter();
  EXPECT_EQ(next->epoch(), first + 1);
  EXPECT_FALSE(next->is_cancelled());
}

}  // namespace
}  // namespace plumbline::test
