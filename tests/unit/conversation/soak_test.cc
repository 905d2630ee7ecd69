// Many turns take no more memory than few. Oracle: the bytes that the first half of them had at
// once. PLUMB_LONG_TESTS takes a thousand turns.
#include <malloc.h>

#include <cstdlib>

#include "tests/unit/conversation/tiny_talk.h"

namespace plumbline::test {
namespace {

TEST(Soak, MemoryStaysFlatOverManyTurns) {
  const int n_turns = std::getenv("PLUMB_LONG_TESTS") != nullptr ? 1000 : 60;
  TinyTalk talk({"context.length=256", "context.reserve_output=16", "context.evict_to=120"});
  PLUMB_ASSERT_OK(talk->set_system("Be brief."));
  size_t most_bytes[2] = {};  // in use behind a turn, of either half
  uint32_t n_evictions = 0;
  uint64_t n_prompt_ids = 0, n_run_ids = 0;
  for (int turn = 0; turn < n_turns; ++turn) {
    const auto answer =
        talk->ask("Turn " + std::to_string(turn) + ": who lives by the sea?", {.max_tokens = 12});
    PLUMB_ASSERT_OK(answer);
    n_evictions += answer->evicted.n_tokens > 0;
    n_prompt_ids += answer->prompt_ids.size();
    n_run_ids += answer->prompt_ids.size() - answer->n_reused_rows;
    size_t& most = most_bytes[turn < n_turns / 2 ? 0 : 1];
    most = std::max(most, static_cast<size_t>(mallinfo2().uordblks));
  }
  EXPECT_GT(n_evictions, 3u);
  // Head room: most turns evict nothing.
  EXPECT_LT(n_evictions, static_cast<uint32_t>(n_turns) / 3);
  EXPECT_LT(n_run_ids, n_prompt_ids / 2);
  // A turn that left its messages behind would leave some hundred bytes; longer numbers in them and
  // longer answers are all that may differ.
  EXPECT_LT(most_bytes[1], most_bytes[0] + 16384);
  RecordProperty("bytes_first_half", std::to_string(most_bytes[0]));
  RecordProperty("bytes_second_half", std::to_string(most_bytes[1]));
  RecordProperty("evictions", std::to_string(n_evictions));
}

}  // namespace
}  // namespace plumbline::test
