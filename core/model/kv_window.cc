#include "core/model/kv_window.h"

#include <algorithm>
#include <string>

namespace plumbline::model {
namespace {

uint32_t n_sinks(const WindowOptions& options) {
  return options.policy == WindowPolicy::kSinkRing ? options.sinks : 0;
}

}  // namespace

Result<KvWindow> KvWindow::create(const WindowOptions& options, uint32_t capacity) {
  const auto wrong = [&](const std::string& what, uint32_t found, const std::string& expected) {
    return Error{PLUMB_INVALID_CONFIG, "a KV window of " + std::to_string(capacity) +
                                           " rows: " + what + " " + std::to_string(found) +
                                           ": expected " + expected};
  };
  if (capacity == 0) return wrong("capacity", capacity, "at least 1");
  const uint32_t sinks = n_sinks(options);
  if (options.policy != WindowPolicy::kFull) {
    if (sinks >= capacity) return wrong("sinks", sinks, "less than the rows");
    if (options.evict_to != 0 && (options.evict_to < sinks || options.evict_to >= capacity)) {
      return wrong("evict_to", options.evict_to,
                   "0, or at least the " + std::to_string(sinks) + " sinks and less than the rows");
    }
  }
  KvWindow window(options, capacity);
  window.runs_.reserve(4);  // of what evictions make of it: nothing is allocated for an id
  return window;
}

uint64_t KvWindow::place_of(uint32_t row) const {
  const auto behind =
      std::upper_bound(runs_.begin(), runs_.end(), row,
                       [](uint32_t at, const Run& run) { return at < run.first_row; });
  const Run& run = *std::prev(behind);
  return run.first_place + (row - run.first_row);
}

std::optional<uint32_t> KvWindow::row_of(uint64_t place) const {
  for (size_t i = 0; i < runs_.size(); ++i) {
    const uint32_t end = i + 1 < runs_.size() ? runs_[i + 1].first_row : n_rows_;
    const Run& run = runs_[i];
    if (place >= run.first_place && place - run.first_place < end - run.first_row)
      return run.first_row + static_cast<uint32_t>(place - run.first_place);
  }
  return std::nullopt;
}

Result<uint32_t> KvWindow::rows_at(uint64_t n_fed) const {
  if (n_fed > n_fed_) {
    return Error{PLUMB_INVALID_ARGUMENT, "cannot go to id " + std::to_string(n_fed) + " of " +
                                             std::to_string(n_fed_) + " that were fed"};
  }
  if (n_fed <= n_untouched_) return static_cast<uint32_t>(n_fed);
  // No removal since: all that came then is still here, behind all that was here then.
  if (n_fed >= exact_from_) return n_rows_ - static_cast<uint32_t>(n_fed_ - n_fed);
  return Error{PLUMB_INVALID_ARGUMENT,
               "cannot go back to id " + std::to_string(n_fed) + " of " + std::to_string(n_fed_) +
                   ": rows that were held then are gone since id " + std::to_string(exact_from_) +
                   "; expected at most " + std::to_string(n_untouched_) + ", or at least " +
                   std::to_string(exact_from_)};
}

void KvWindow::add(uint32_t n) {
  n_rows_ += n;
  n_fed_ += n;
}

RowRange KvWindow::eviction() const {
  const uint32_t sinks = n_sinks(options_);
  const uint32_t half = std::max(1u, (capacity_ - sinks) / 2);
  const uint32_t n = options_.evict_to != 0 ? capacity_ - options_.evict_to : half;
  return {sinks, sinks + n};
}

void KvWindow::remove(RowRange rows) {
  if (rows.size() == 0) return;
  const uint64_t place_behind = rows.end < n_rows_ ? place_of(rows.end) : n_fed_;
  const auto begin =
      std::lower_bound(runs_.begin(), runs_.end(), rows.begin,
                       [](const Run& run, uint32_t row) { return run.first_row < row; });
  auto end = begin;
  while (end != runs_.end() && end->first_row <= rows.end) ++end;
  for (auto run = end; run != runs_.end(); ++run) run->first_row -= rows.size();
  runs_.insert(runs_.erase(begin, end), Run{rows.begin, place_behind});
  n_rows_ -= rows.size();
  n_untouched_ = std::min(n_untouched_, rows.begin);
  exact_from_ = n_fed_;
}

// As if the first ids alone had ever been there.
void KvWindow::begin_anew(uint32_t n_rows) {
  n_rows_ = n_rows;
  n_fed_ = n_rows;
  runs_.assign(1, Run{0, 0});
  n_untouched_ = UINT32_MAX;
  exact_from_ = 0;
}

void KvWindow::truncate(uint32_t n_rows) {
  if (n_rows == 0 || n_rows < n_untouched_) return begin_anew(std::min(n_rows, n_rows_));
  if (n_rows >= n_rows_) return;
  n_fed_ = place_of(n_rows);
  n_rows_ = n_rows;
  while (runs_.back().first_row > n_rows) runs_.pop_back();
  exact_from_ = std::min(exact_from_, n_fed_);
}

void KvWindow::rewind(uint64_t n_fed) {
  if (n_fed >= n_fed_) return;
  if (n_fed <= n_untouched_) return begin_anew(static_cast<uint32_t>(n_fed));
  while (runs_.size() > 1 && runs_.back().first_place >= n_fed) {
    n_rows_ = runs_.back().first_row;
    runs_.pop_back();
  }
  Run& last = runs_.back();
  const uint64_t n_before = n_fed - std::min(n_fed, last.first_place);
  n_rows_ = last.first_row +
            static_cast<uint32_t>(std::min<uint64_t>(n_rows_ - last.first_row, n_before));
  // The next id does not follow the last one that is left.
  if (n_rows_ == last.first_row) {
    last.first_place = n_fed;
  } else if (place_of(n_rows_) != n_fed) {
    runs_.push_back({n_rows_, n_fed});
  }
  n_fed_ = n_fed;
  exact_from_ = std::min(exact_from_, n_fed);
}

Result<void> KvWindow::set_state(const State& state) {
  const auto corrupt = [](const std::string& what) {
    return Error{PLUMB_CORRUPT, "the places of the rows: " + what};
  };
  constexpr uint64_t kMostFed = uint64_t{1} << 48;  // so that counting on cannot wrap
  if (state.n_fed > kMostFed)
    return corrupt(std::to_string(state.n_fed) + " ids fed, more than any run has");
  if (state.n_rows > capacity_ || state.n_rows > state.n_fed)
    return corrupt(std::to_string(state.n_rows) + " rows of " + std::to_string(state.n_fed) +
                   " ids in a cache of " + std::to_string(capacity_));
  if (state.runs.empty() || state.runs.front().first_row != 0) return corrupt("no run at row 0");
  uint64_t place = 0;  // the least that the next run may begin at
  for (size_t i = 0; i < state.runs.size(); ++i) {
    const Run& run = state.runs[i];
    const uint32_t end = i + 1 < state.runs.size() ? state.runs[i + 1].first_row : state.n_rows;
    if (run.first_row > end || run.first_place < place || run.first_place > state.n_fed ||
        end - run.first_row > state.n_fed - run.first_place) {
      return corrupt("run " + std::to_string(i) + " does not fit");
    }
    place = run.first_place + (end - run.first_row);
  }
  if (place != state.n_fed) return corrupt("the last row does not hold the last id");
  if (state.exact_from > state.n_fed) return corrupt("a removal behind the last id");
  const uint32_t first_gap = state.runs.front().first_place > 0 ? 0
                             : state.runs.size() > 1            ? state.runs[1].first_row
                                                                : UINT32_MAX;
  if (state.n_untouched > first_gap) return corrupt("a gap among rows that were never touched");
  n_rows_ = state.n_rows;
  n_fed_ = state.n_fed;
  runs_ = state.runs;
  n_untouched_ = state.n_untouched;
  exact_from_ = state.exact_from;
  return {};
}

}  // namespace plumbline::model
