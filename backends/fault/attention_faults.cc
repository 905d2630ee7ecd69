// attention_faults.cc: attention to the wrong rows or heads, and caches with wrong rows.
#include <algorithm>
#include <limits>

#include "call.h"

namespace plumbline::fault {
namespace {

constexpr Set kAttend = {PLUMB_OP_ATTEND};
constexpr Set kAppend = {PLUMB_OP_KV_APPEND};

const char* has_no_bitmap(const plumb_op_query& query) {
  return query.variant != PLUMB_MASK_BITMAP ? nullptr : "a causal mask or a window";
}
const char* has_window(const plumb_op_query& query) {
  return query.variant == PLUMB_MASK_WINDOW ? nullptr : "a sliding window";
}

const char* has_window_left(const OpFacts& facts) {
  const plumb_op_attend& attend = facts.op.as.attend;
  if (attend.mask == PLUMB_MASK_BITMAP) return "a causal mask or a window";
  return attend.mask == PLUMB_MASK_WINDOW && attend.window < 2 ? "a window of 2 or more" : nullptr;
}
const char* has_window_to_change(const OpFacts& facts) {
  const plumb_op_attend& attend = facts.op.as.attend;
  if (attend.mask != PLUMB_MASK_WINDOW) return "a sliding window";
  return attend.window + facts.amount >= 1 && facts.amount != 0 ? nullptr
                                                                : "a window that stays above 0";
}
const char* has_window_to_lose(const OpFacts& facts) {
  return facts.op.as.attend.mask == PLUMB_MASK_WINDOW ? nullptr : "a sliding window";
}
const char* has_shared_heads(const OpFacts& facts) {
  const uint32_t H = facts.op.as.attend.n_heads;
  const uint32_t K = facts.cache == nullptr ? 0 : facts.cache->n_heads;
  return K > 1 && K < H && H % K == 0 ? nullptr
                                      : "fewer key and value heads than queries, but several";
}
const char* has_scale(const OpFacts& facts) {
  return facts.op.as.attend.scale != 1 ? nullptr : "a scale other than 1";
}
const char* has_cache(const OpFacts& facts) {
  return facts.cache != nullptr ? nullptr : "a live cache";
}
const char* has_softcap(const OpFacts& facts) {
  return facts.op.as.attend.softcap != 0 ? nullptr : "a soft cap of scores";
}

void change_window(const OpFacts& facts, plumb_op& op) {
  op.as.attend.window = static_cast<uint32_t>(op.as.attend.window + facts.amount);
}
void forget_window(const OpFacts&, plumb_op& op) {
  op.as.attend.mask = PLUMB_MASK_CAUSAL;
}
void forget_scale(const OpFacts&, plumb_op& op) {
  op.as.attend.scale = 1;
}
void scale_by_width(const OpFacts& facts, plumb_op& op) {
  op.as.attend.scale = 1 / static_cast<float>(facts.cache->head_width);
}
void forget_softcap(const OpFacts&, plumb_op& op) {
  op.as.attend.softcap = 0;
}
void swap_keys_and_values(const OpFacts&, plumb_op& op) {
  std::swap(op.as.kv_append.k, op.as.kv_append.v);
}

// Query head h reads kv head h % K where the inner backend would have it read h / (H / K): the
// heads are sorted so, and back.
Result<void> map_heads_by_remainder(Call& call) {
  const plumb_op_attend& attend = call.op().as.attend;
  const uint64_t H = attend.n_heads, K = call.facts().cache->n_heads;
  const uint64_t C = call.facts().cache->head_width, n = H * C * call.op().n_rows;
  PLUMB_ASSIGN(const std::span<float> plain, call.read<float>(attend.q, n));
  PLUMB_ASSIGN(const std::span<float> sorted, call.room<float>(n));
  const auto place = [&](uint64_t at) {  // of a value of the plain order in the sorted one
    const uint64_t h = at / C % H;
    return at - h * C + (h % K * (H / K) + h / K) * C;
  };
  for (uint64_t at = 0; at < n; ++at) sorted[place(at)] = plain[at];
  plumb_op op = call.op();
  PLUMB_ASSIGN(op.as.attend.q, call.put(sorted));
  PLUMB_ASSIGN(op.as.attend.out, call.space(n));
  PLUMB_TRY(call.run(op));
  PLUMB_TRY(call.read_to(op.as.attend.out, std::as_writable_bytes(sorted)));
  for (uint64_t at = 0; at < n; ++at) plain[at] = sorted[place(at)];
  return call.write(attend.out, plain);
}

/// Attends with queries elsewhere; the window is moved along, so that its far end stays.
Result<void> attend_from(Call& call, std::span<int32_t> positions, int32_t step) {
  plumb_op op = call.op();
  PLUMB_ASSIGN(op.as.attend.positions, call.put(positions));
  if (op.as.attend.mask == PLUMB_MASK_WINDOW)
    op.as.attend.window = static_cast<uint32_t>(int64_t{op.as.attend.window} + step);
  return call.run(op);
}

// A query that would be left without any key keeps its own.
Result<void> hide_own_key(Call& call) {
  const plumb_op_attend& attend = call.op().as.attend;
  PLUMB_ASSIGN(const std::span<int32_t> queries,
               call.read<int32_t>(attend.positions, call.op().n_rows));
  PLUMB_ASSIGN(const std::span<int32_t> keys, call.room<int32_t>(attend.n_rows_kv));
  PLUMB_TRY(call.kv_export(0, attend.n_rows_kv, nullptr, nullptr, keys.data()));
  for (int32_t& query : queries) {
    const bool sees_earlier = std::any_of(keys.begin(), keys.end(), [&](int32_t key) {
      return key < query &&
             (attend.mask != PLUMB_MASK_WINDOW || int64_t{query} - key < int64_t{attend.window});
    });
    query -= sees_earlier ? 1 : 0;
  }
  return attend_from(call, queries, -1);
}

Result<void> show_next_key(Call& call) {
  PLUMB_ASSIGN(const std::span<int32_t> queries,
               call.read<int32_t>(call.op().as.attend.positions, call.op().n_rows));
  for (int32_t& query : queries) query += query < std::numeric_limits<int32_t>::max() ? 1 : 0;
  return attend_from(call, queries, 1);
}

uint64_t row_floats(const Call& call) {
  return uint64_t{call.facts().cache->n_heads} * call.facts().cache->head_width;
}

Result<void> overwrite_row(Call& call) {
  PLUMB_TRY(call.run(call.op()));
  const uint32_t newest = call.op().as.kv_append.first_row + call.op().n_rows - 1;
  const auto row = static_cast<uint32_t>(call.facts().amount);
  if (row >= newest) return {};
  PLUMB_ASSIGN(const std::span<float> k, call.room<float>(row_floats(call)));
  PLUMB_ASSIGN(const std::span<float> v, call.room<float>(row_floats(call)));
  PLUMB_TRY(call.kv_export(newest, 1, k.data(), v.data(), nullptr));
  return call.kv_import(row, 1, k.data(), v.data());
}

// What was there before a row that nobody writes is 0 here, so that runs can be repeated.
Result<void> skip_row(Call& call) {
  PLUMB_TRY(call.run(call.op()));
  const plumb_op_kv_append& append = call.op().as.kv_append;
  const auto row = static_cast<uint32_t>(call.facts().amount);
  if (row < append.first_row || row >= append.first_row + call.op().n_rows) return {};
  PLUMB_ASSIGN(const std::span<float> zeros, call.room<float>(row_floats(call)));
  std::fill(zeros.begin(), zeros.end(), 0.0f);
  return call.kv_import(row, 1, zeros.data(), zeros.data());
}

// Rows behind those of the call are dropped, here as there.
Result<void> keep_old_rows(Call& call) {
  const plumb_op_kv_append& append = call.op().as.kv_append;
  const Cache& cache = *call.facts().cache;
  const uint64_t n_floats = row_floats(call);
  const uint64_t first = append.first_row * n_floats;
  const uint64_t end = first + call.op().n_rows * n_floats;
  PLUMB_TRY(call.run(call.op()));
  PLUMB_ASSIGN(const std::span<float> k, call.read<float>(append.k, end - first));
  PLUMB_ASSIGN(const std::span<float> v, call.read<float>(append.v, end - first));
  const uint64_t held = append.first_row == 0 ? 0 : cache.written_k.size();
  const uint64_t kept_end = std::min(held, end - n_floats);  // the last row is new in any case
  if (kept_end > first) {
    const auto n_kept = static_cast<uint32_t>((kept_end - first) / n_floats);
    PLUMB_TRY(call.kv_import(append.first_row, n_kept, cache.written_k.data() + first,
                             cache.written_v.data() + first));
  }
  const uint64_t new_from = std::max(kept_end, first);
  const auto put = [&](std::vector<float>& written, std::span<const float> rows) {
    written.resize(end);
    std::ranges::copy(rows.subspan(new_from - first),
                      written.begin() + static_cast<ptrdiff_t>(new_from));
  };
  put(cache.written_k, k);
  put(cache.written_v, v);
  return {};
}

constexpr Amount kRow = {0, 0, 1 << 24};

constexpr Fault kFaults[] = {
    {.name = "gqa_head_mapping",
     .breaks = "query head h reads kv head h % K instead of h / (H / K)",
     .ops = kAttend,
     .misfit = has_shared_heads,
     .run = map_heads_by_remainder},
    {.name = "mask_off_by_one_strict",
     .breaks = "keys before the query only; a query without any keeps its own",
     .ops = kAttend,
     .misfit = has_window_left,
     .misfit_query = has_no_bitmap,
     .run = hide_own_key},
    {.name = "mask_off_by_one_future",
     .breaks = "the key behind the query too, where the cache has it: with two rows or more",
     .ops = kAttend,
     .misfit_query = has_no_bitmap,
     .run = show_next_key},
    {.name = "window_off_by_one",
     .breaks = "the window is wider by amount (-1: narrower)",
     .ops = kAttend,
     .amount = {1, -1024, 1024},
     .misfit = has_window_to_change,
     .misfit_query = has_window,
     .change_record = change_window},
    {.name = "window_missing",
     .breaks = "all earlier keys instead of a window",
     .ops = kAttend,
     .misfit = has_window_to_lose,
     .misfit_query = has_window,
     .change_record = forget_window},
    {.name = "attention_scale_missing",
     .breaks = "scores are not scaled",
     .ops = kAttend,
     .misfit = has_scale,
     .change_record = forget_scale},
    {.name = "attention_scale_wrong",
     .breaks = "scores are scaled by 1/C instead of 1/sqrt(C)",
     .ops = kAttend,
     .misfit = has_cache,
     .change_record = scale_by_width},
    {.name = "attention_softcap_missing",
     .breaks = "scores are not capped",
     .ops = kAttend,
     .misfit = has_softcap,
     .change_record = forget_softcap},
    {.name = "kv_row_overwritten",
     .breaks = "the newest row is also written over row amount, an earlier one",
     .ops = kAppend,
     .amount = kRow,
     .misfit = has_cache,
     .run = overwrite_row},
    {.name = "kv_stale_row",
     .breaks = "row amount is not written: its keys and values stay 0",
     .ops = kAppend,
     .amount = kRow,
     .misfit = has_cache,
     .run = skip_row},
    {.name = "kv_old_row_kept",
     .breaks = "rows that were written and taken back keep what they held, all but a call's last",
     .ops = kAppend,
     .misfit = has_cache,
     .run = keep_old_rows},
    {.name = "kv_swapped",
     .breaks = "keys are stored as values and values as keys",
     .ops = kAppend,
     .change_record = swap_keys_and_values},
};

}  // namespace

std::span<const Fault> attention_faults() {
  return kFaults;
}

}  // namespace plumbline::fault
