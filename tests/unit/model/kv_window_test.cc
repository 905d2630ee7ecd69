// Which ids a window's rows hold. Oracles: golden/cases/kv_context.jsonl (interval arithmetic, and
// llama.cpp's rule for what goes), and a list of places from which elements are erased.
#include "core/model/kv_window.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/support/golden_cases.h"

namespace plumbline::test {
namespace {

using model::KvWindow;
using model::RowRange;
using model::WindowOptions;
using model::WindowPolicy;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr WindowOptions kRing = {.policy = WindowPolicy::kRing};

KvWindow make(const WindowOptions& options, uint32_t capacity) {
  auto window = KvWindow::create(options, capacity);
  EXPECT_TRUE(window) << window.error().message;
  return *std::move(window);
}

// n ids, one at a time.
void feed(KvWindow& window, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) {
    if (window.n_free() == 0) window.remove(window.eviction());
    window.add(1);
  }
}

std::vector<uint64_t> places(const KvWindow& window) {
  std::vector<uint64_t> all;
  for (uint32_t row = 0; row < window.n_rows(); ++row) all.push_back(window.place_of(row));
  return all;
}

std::vector<json> cases_of(const std::string& op) {
  std::vector<json> found;
  for (const json& line : read_jsonl(golden_path("cases/kv_context.jsonl"))) {
    if (line["input"]["op"] == op) found.push_back(line);
  }
  EXPECT_FALSE(found.empty()) << op;
  return found;
}

TEST(KvWindow, HalfOfWhatIsBehindTheSinksGoes) {
  for (const json& one : cases_of("shift_window")) {
    const json& value = one["input"]["value"];
    const uint32_t capacity = value["n_ctx"], n = value["n_tokens"];
    KvWindow window = make({.policy = WindowPolicy::kSinkRing, .sinks = value["n_keep"]}, capacity);
    feed(window, n);
    ASSERT_EQ(window.n_free(), 0u);
    const RowRange rows = window.eviction();
    std::vector<uint64_t> discarded;
    for (uint32_t row = rows.begin; row < rows.end; ++row)
      discarded.push_back(window.place_of(row));
    EXPECT_EQ(json(discarded), one["expected"]["discarded"]);
    window.remove(rows);
    EXPECT_EQ(json(places(window)), one["expected"]["kept"]);
    EXPECT_EQ(window.n_fed(), n);
    EXPECT_EQ(window.row_of(discarded.front()), std::nullopt);
    EXPECT_EQ(window.row_of(n), std::nullopt);
    json positions;
    for (const uint64_t place : one["expected"]["kept"]) positions.push_back(*window.row_of(place));
    EXPECT_EQ(positions, one["expected"]["new_positions"]);
  }
}

TEST(KvWindow, ARingThatWasOverrunRefusesToGoBack) {
  for (const json& one : cases_of("ring_trim")) {
    const uint32_t n = one["input"]["value"]["appended"], size = one["input"]["value"]["size"];
    KvWindow window = make({.policy = WindowPolicy::kRing, .evict_to = size - 1}, size);
    feed(window, n);
    const uint64_t back_to = n - one["input"]["value"]["trim"].get<uint32_t>();
    const auto rows = window.rows_at(back_to);
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().code, PLUMB_INVALID_ARGUMENT);
    EXPECT_THAT(rows.error().message, HasSubstr("cannot go back to id 16 of 20"));
    // The rows in front of it are those that are left if it is done all the same.
    window.truncate(*window.row_of(back_to));
    EXPECT_EQ(json(places(window)), one["expected"]["positions_left"]);
    EXPECT_EQ(window.n_fed(), one["expected"]["next_position"]);
  }
}

// A cache of sliding layers that held no more than their window could not go back; one that holds
// every row, as ours do, can.
TEST(KvWindow, OnlyWhatIsStillHeldCanBeGoneBackTo) {
  for (const json& one : cases_of("iswa_seq_rm")) {
    const uint32_t n = one["input"]["value"]["n"], back_to = one["input"]["value"]["remove_from"];
    const uint32_t size = one["params"]["window"];
    KvWindow sliding = make({.policy = WindowPolicy::kRing, .evict_to = size - 1}, size);
    feed(sliding, n);
    EXPECT_EQ(json({sliding.place_of(0), sliding.place_of(size - 1)}),
              one["expected"]["sliding_positions_kept_before"]);
    EXPECT_EQ(sliding.rows_at(back_to).has_value(), one["expected"]["can_continue_at_400"]);

    KvWindow global = make({}, n);
    feed(global, n);
    ASSERT_TRUE(global.rows_at(back_to));
    global.rewind(back_to);
    EXPECT_EQ(global.n_rows(), one["expected"]["global_left"]);
    EXPECT_EQ(global.n_fed(), back_to);
  }
}

TEST(KvWindow, WhatCameAfterAnEvictionCanBeTakenBack) {
  KvWindow window = make({.policy = WindowPolicy::kSinkRing, .sinks = 2}, 10);
  feed(window, 13);  // an eviction at 10
  EXPECT_THAT(places(window), ElementsAre(0, 1, 6, 7, 8, 9, 10, 11, 12));
  EXPECT_EQ(*window.rows_at(13), 9u);
  EXPECT_EQ(*window.rows_at(10), 6u);
  EXPECT_FALSE(window.rows_at(9));
  EXPECT_FALSE(window.rows_at(3));
  EXPECT_EQ(*window.rows_at(2), 2u);
  EXPECT_FALSE(window.rows_at(14));
  window.rewind(11);
  EXPECT_THAT(places(window), ElementsAre(0, 1, 6, 7, 8, 9, 10));
  window.rewind(2);
  feed(window, 8);  // as if the rest had never been
  EXPECT_EQ(window.n_fed(), 10u);
  EXPECT_EQ(*window.rows_at(7), 7u);
}

TEST(KvWindow, SinksAloneMayBeLeft) {
  KvWindow window = make({.policy = WindowPolicy::kSinkRing, .sinks = 3, .evict_to = 3}, 5);
  feed(window, 6);
  EXPECT_THAT(places(window), ElementsAre(0, 1, 2, 5));
  window.rewind(5);
  EXPECT_THAT(places(window), ElementsAre(0, 1, 2));
  EXPECT_EQ(window.n_fed(), 5u);
}

TEST(KvWindow, ARowOfOneTurnsRound) {
  KvWindow window = make(kRing, 1);
  feed(window, 3);
  EXPECT_THAT(places(window), ElementsAre(2));
}

TEST(KvWindow, RefusesWhatDoesNotFit) {
  const WindowOptions wrong[] = {{.policy = WindowPolicy::kSinkRing, .sinks = 8},
                                 {.policy = WindowPolicy::kSinkRing, .sinks = 4, .evict_to = 3},
                                 {.policy = WindowPolicy::kRing, .evict_to = 8}};
  for (const WindowOptions& options : wrong) {
    const auto window = KvWindow::create(options, 8);
    ASSERT_FALSE(window);
    EXPECT_EQ(window.error().code, PLUMB_INVALID_CONFIG);
    EXPECT_THAT(window.error().message, HasSubstr("a KV window of 8 rows: "));
  }
  EXPECT_FALSE(KvWindow::create({}, 0));
}

// Against a list: whatever is fed, removed and cut.
TEST(KvWindow, IsAListOfPlaces) {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int run = 0; run < 200; ++run) {
    const uint32_t capacity = 4 + below(20);
    KvWindow window = make({.policy = WindowPolicy::kSinkRing, .sinks = below(4)}, capacity);
    std::vector<uint64_t> list;
    uint64_t n_fed = 0;
    for (int step = 0; step < 50; ++step) {
      const auto size = static_cast<uint32_t>(list.size());
      const uint32_t cut = below(size + 1);
      switch (below(9)) {
        case 0: {
          const RowRange rows{cut, cut + below(size - cut + 1)};
          window.remove(rows);
          list.erase(list.begin() + rows.begin, list.begin() + rows.end);
          break;
        }
        case 1:
          window.truncate(cut);
          if (cut < size) n_fed = list[cut];
          list.resize(cut);
          if (cut == 0) n_fed = 0;
          break;
        case 2:
          n_fed -= std::min<uint64_t>(n_fed, below(6));
          window.rewind(n_fed);
          std::erase_if(list, [&](uint64_t place) { return place >= n_fed; });
          break;
        default:
          for (uint32_t i = below(4); i < 4; ++i) {
            if (list.size() == capacity) {
              const RowRange rows = window.eviction();
              list.erase(list.begin() + rows.begin, list.begin() + rows.end);
            }
            list.push_back(n_fed++);
            feed(window, 1);
          }
      }
      ASSERT_EQ(places(window), list);
      ASSERT_EQ(window.n_fed(), n_fed);
      for (uint32_t row = 0; row < list.size(); ++row) ASSERT_EQ(window.row_of(list[row]), row);
      KvWindow copy = make(window.options(), capacity);
      const auto done = copy.set_state(window.state());
      ASSERT_TRUE(done) << done.error().message;
      ASSERT_EQ(places(copy), list);
    }
  }
}

TEST(KvWindow, TakesNoStateThatCannotBe) {
  KvWindow window = make({.policy = WindowPolicy::kSinkRing, .sinks = 2}, 10);
  feed(window, 13);
  const KvWindow::State good = window.state();
  const auto refuses = [&](auto&& spoil) {
    KvWindow::State bad = good;
    spoil(bad);
    const auto done = window.set_state(bad);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, PLUMB_CORRUPT);
    EXPECT_EQ(window.n_rows(), good.n_rows);
  };
  using State = KvWindow::State;
  refuses([](State& s) { s.n_rows = 11; });
  refuses([](State& s) { s.n_fed = 14; });
  refuses([](State& s) { s.n_fed = 3; });
  refuses([](State& s) {  // consistent, but counting on would wrap
    s.runs.back().first_place += UINT64_MAX - s.n_fed;
    s.n_fed = UINT64_MAX;
  });
  refuses([](State& s) { s.runs.clear(); });
  refuses([](State& s) { s.runs[0].first_row = 1; });
  refuses([](State& s) { s.runs[1].first_row = 40; });
  refuses([](State& s) { s.runs[1].first_place = 1; });
  refuses([](State& s) { s.runs[1].first_place = UINT64_MAX; });
  refuses([](State& s) { s.n_untouched = 3; });
  refuses([](State& s) { s.exact_from = 14; });
  EXPECT_TRUE(window.set_state(good));
}

}  // namespace
}  // namespace plumbline::test
