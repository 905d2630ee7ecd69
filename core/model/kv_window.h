// kv_window.h: which ids of a stream the rows of a KV cache hold, and which of them go when it is
// full. Bookkeeping alone: no rows are moved here.
//
// A row's index is its position: what has moved down is held as if it had been encoded there
// (Xiao et al. 2023, StreamingLLM). The place of an id is its index in the stream: in everything
// that was fed and not taken back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::model {

/// Rows [begin, end).
struct RowRange {
  uint32_t begin = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - begin; }
  bool operator==(const RowRange&) const = default;
};

enum class WindowPolicy {
  kFull,  // nothing goes: what does not fit is refused
  kRing,  // the oldest rows go
  kSinkRing,  // the oldest rows behind the first few go
};

struct WindowOptions {
  WindowPolicy policy = WindowPolicy::kFull;
  uint32_t sinks = 4;  // kSinkRing: rows in front that stay
  /// Rows that are left when some had to go. 0: half of those behind the sinks go, as in llama.cpp;
  /// capacity - 1: one row for each id, as in StreamingLLM, which costs a re-mapping of all rows
  /// for each id.
  uint32_t evict_to = 0;

  bool operator==(const WindowOptions&) const = default;
};

/// Rows go when all are taken and an id comes, and at no other time. What is held is therefore a
/// function of the options, the capacity and the number of ids: how they were divided into calls
/// and chunks does not matter.
class KvWindow {
 public:
  /// Fails INVALID_CONFIG: sinks or evict_to do not fit into the capacity.
  static Result<KvWindow> create(const WindowOptions& options, uint32_t capacity);

  const WindowOptions& options() const { return options_; }
  bool evicts() const { return options_.policy != WindowPolicy::kFull; }
  uint32_t capacity() const { return capacity_; }
  uint32_t n_rows() const { return n_rows_; }
  uint32_t n_free() const { return capacity_ - n_rows_; }
  /// Ids of the stream: the place that the next one takes.
  uint64_t n_fed() const { return n_fed_; }

  /// Place of the id that a row < n_rows() holds.
  uint64_t place_of(uint32_t row) const;
  /// The row that holds the id at a place.
  std::optional<uint32_t> row_of(uint64_t place) const;
  /// Rows that were held when so many ids had been fed, if all of them are held now, where they
  /// were: nothing was removed since, or only what lies behind. Else fails INVALID_ARGUMENT.
  Result<uint32_t> rows_at(uint64_t n_fed) const;

  /// n <= n_free() ids came.
  void add(uint32_t n);
  /// The rows that go when there is no room and the policy evicts.
  RowRange eviction() const;
  /// Rows within [0, n_rows()) go, those behind move down. The stream stays as long as it is.
  void remove(RowRange rows);
  /// Rows from n_rows on go, and the stream goes back to before the first of them; without rows it
  /// begins anew.
  void truncate(uint32_t n_rows);
  /// Ids from the one at n_fed on were never there, as far as what they evicted is not gone: the
  /// stream is so long again, and the rows are those of it that are left. Where rows_at(n_fed) is a
  /// value, they are all.
  void rewind(uint64_t n_fed);

  /// Rows from first_row on, up to the next run's, hold the ids from first_place on.
  struct Run {
    uint32_t first_row;
    uint64_t first_place;

    bool operator==(const Run&) const = default;
  };
  /// All that a window knows beside its options and capacity.
  struct State {
    uint32_t n_rows = 0;
    uint64_t n_fed = 0;
    std::vector<Run> runs = {{0, 0}};  // of rising rows and places; the first at row 0
    uint32_t n_untouched = UINT32_MAX;  // rows in front that no removal has reached
    uint64_t exact_from = 0;  // n_fed at the last removal
  };
  State state() const { return {n_rows_, n_fed_, runs_, n_untouched_, exact_from_}; }
  /// Fails CORRUPT: no window of this capacity can have come to such a state.
  Result<void> set_state(const State& state);

 private:
  KvWindow(const WindowOptions& options, uint32_t capacity)
      : options_(options), capacity_(capacity) {}
  void begin_anew(uint32_t n_rows);

  WindowOptions options_;
  uint32_t capacity_;
  uint32_t n_rows_ = 0;
  uint64_t n_fed_ = 0;
  std::vector<Run> runs_ = {{0, 0}};
  uint32_t n_untouched_ = UINT32_MAX;
  uint64_t exact_from_ = 0;
};

}  // namespace plumbline::model
