// attend.cc: attention. Lane = key position for q.k, lane = channel for the weighted sum of V; both
// run in the order of rows and channels for each query alone, so neither tiles nor threads change a
// bit.
#include "backends/cpu/kernels/kv_rows.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {
namespace {

/// Sums that run side by side: enough to hide the latency of an addition, few enough for the
/// registers.
constexpr int kSums = kRegisters >= 32 ? 16 : 4;
/// Queries that share the reading of keys and values.
constexpr int kTogether = kSums == 16 ? 8 : 4;
static_assert(kTogether <= static_cast<int>(kQueryTile));

/// One query's working memory: a score for each row of the cache, later its weight, and who is
/// visible.
struct Scratch {
  float* scores;  // f32[capacity]
  uint32_t* masks;  // u32[capacity/16]: bit i: row i of the block is visible
};
PLUMB_INLINE Scratch scratch_of(const AttendArgs& args, uint64_t query) {
  uint8_t* start = args.scratch + query * (attend_scratch_bytes(args.kv.capacity) / kQueryTile);
  return {reinterpret_cast<float*>(start),
          reinterpret_cast<uint32_t*>(start + args.kv.capacity * sizeof(float))};
}

/// Which rows of a block of 16 the query of activation row t sees. Positions are not negative.
PLUMB_INLINE i32x16 visible(const AttendArgs& args, uint64_t t, uint64_t block) {
  const uint64_t first = block * kLanes;
  const i32x16 query = splat(args.positions[t]);
  const i32x16 key = load(args.kv.positions + first);
  const i32x16 held = first_lanes(static_cast<int64_t>(args.n_rows_kv - first));
  const i32x16 past = greater(splat(int32_t{1}), sub(key, query));
  const i32x16 near = greater(splat(args.window), sub(query, key));
  i32x16 seen = bit_and(held, bit_and(past, near));
  if (args.bitmap != nullptr && first + kLanes > args.first_row) {
    const uint64_t* row_bits = args.bitmap + t * ((args.n_rows + 63) / 64);
    int32_t lanes[kLanes];
    store(lanes, seen);
    for (uint64_t i = 0; i < kLanes; ++i) {
      if (first + i < args.first_row) continue;
      const uint64_t j = first + i - args.first_row;
      const bool set = j < args.n_rows && (row_bits[j / 64] >> (j % 64) & 1) != 0;
      lanes[i] = set && first + i < args.n_rows_kv ? -1 : 0;
    }
    seen = load(lanes);
  }
  return seen;
}

/// dot[n][b] = q of query n . k of the rows of block b, channels in order.
template <int N, int B, typename Element>
PLUMB_INLINE void dots(const float* const (&q)[N], const Element* k, uint64_t width,
                       f32x16 (&dot)[N][B]) {
  for (int n = 0; n < N; ++n) {
    for (int b = 0; b < B; ++b) dot[n][b] = splat(0.0f);
  }
  for (uint64_t c = 0; c < width; ++c) {
    f32x16 keys[B];
    PLUMB_UNROLL(16)
    for (int b = 0; b < B; ++b)
      keys[b] = load_elements(k + (static_cast<uint64_t>(b) * width + c) * kLanes);
    PLUMB_UNROLL(16)
    for (int n = 0; n < N; ++n) {
      const f32x16 query = splat(q[n][c]);
      PLUMB_UNROLL(16)
      for (int b = 0; b < B; ++b) dot[n][b] = add(dot[n][b], mul(query, keys[b]));
    }
  }
}

/// acc[n][c] += weight * v for the rows of a block that query n sees, row by row; C groups of 16
/// channels.
template <int N, int C, typename Element>
PLUMB_INLINE void add_values(const Scratch (&s)[N], const Element* v, uint64_t stride,
                             uint64_t block, f32x16 (&acc)[N][C]) {
  uint32_t all = 0xffff;
  for (int n = 0; n < N; ++n) all &= s[n].masks[block];
  for (uint64_t i = 0; i < kLanes; ++i, v += stride) {
    f32x16 values[C];
    for (int c = 0; c < C; ++c) values[c] = load_elements(v + c * kWidth);
    PLUMB_UNROLL(16)
    for (int n = 0; n < N; ++n) {
      if (all != 0xffff && (s[n].masks[block] >> i & 1) == 0) continue;
      const f32x16 weight = splat(s[n].scores[block * kLanes + i]);
      for (int c = 0; c < C; ++c) acc[n][c] = add(acc[n][c], mul(weight, values[c]));
    }
  }
}

/// N queries of one kv head: first .. first + N of its T * G (row, head of the group) pairs.
template <int N, typename Element>
class Queries {
 public:
  PLUMB_INLINE Queries(const AttendArgs& args, uint64_t kv_head, uint64_t first)
      : args_(args), kv_head_(kv_head) {
    const uint64_t group = args.n_heads / args.kv.n_heads;
    for (int n = 0; n < N; ++n) {
      const uint64_t pair = first + static_cast<uint64_t>(n);
      row_[n] = pair / group;
      const uint64_t at =
          (row_[n] * args.n_heads + kv_head * group + pair % group) * args.kv.head_width;
      q_[n] = args.q + at;
      out_[n] = args.out + at;
      scratch_[n] = scratch_of(args, static_cast<uint64_t>(n));
      most_[n] = splat(-__builtin_inff());
    }
  }

  /// Scores of blocks [block, block + B). False if a visible one is not finite.
  template <int B>
  PLUMB_INLINE bool score(uint64_t block) {
    uint32_t any = 0;
    i32x16 seen[N][B];
    for (int n = 0; n < N; ++n) {
      for (int b = 0; b < B; ++b) {
        seen[n][b] = visible(args_, row_[n], block + static_cast<uint64_t>(b));
        const uint32_t mask = mask_bits(seen[n][b]);
        scratch_[n].masks[block + static_cast<uint64_t>(b)] = mask;
        any |= mask;
      }
    }
    if (any == 0) return true;
    f32x16 dot[N][B];
    dots<N, B>(q_, key_at<Element>(args_.kv, kv_head_, block * kLanes), args_.kv.head_width, dot);
    uint32_t bad = 0;
    for (int n = 0; n < N; ++n) {
      for (int b = 0; b < B; ++b) {
        f32x16 s = mul(dot[n][b], splat(args_.scale));
        bad |= mask_bits(bit_and(seen[n][b], not_finite(s)));
        if (args_.softcap > 0.0f) {
          s = mul(splat(args_.softcap), tanh(div(s, splat(args_.softcap))));
        }
        s = select(seen[n][b], s, splat(-__builtin_inff()));
        most_[n] = max(most_[n], s);
        store(scratch_[n].scores + (block + static_cast<uint64_t>(b)) * kLanes, s);
      }
    }
    return bad == 0;
  }

  /// Scores become exp(score - maximum); their sum is kept. Hidden rows become +0, which the sum
  /// ignores. False if a query sees no row.
  PLUMB_INLINE bool weigh(uint64_t n_blocks) {
    for (int n = 0; n < N; ++n) {
      const float most = fold_max(most_[n]);
      if (most == -__builtin_inff()) return false;
      const f32x16 top = splat(most);
      f32x16 partial = splat(0.0f);
      for (uint64_t block = 0; block < n_blocks; ++block) {
        if (scratch_[n].masks[block] == 0) continue;
        float* s = scratch_[n].scores + block * kLanes;
        const f32x16 weight = exp(sub(load(s), top));
        store(s, weight);
        partial = add(partial, weight);
      }
      sum_[n] = fold_add(partial);
    }
    return true;
  }

  /// C groups of 16 channels from `channel` on.
  template <int C>
  PLUMB_INLINE void mix(uint64_t n_blocks, uint64_t channel) {
    f32x16 acc[N][C];
    for (int n = 0; n < N; ++n) {
      for (int c = 0; c < C; ++c) acc[n][c] = splat(0.0f);
    }
    for (uint64_t block = 0; block < n_blocks; ++block) {
      uint32_t any = 0;
      for (int n = 0; n < N; ++n) any |= scratch_[n].masks[block];
      if (any == 0) continue;
      const Element* v = value_at<Element>(args_.kv, kv_head_, block * kLanes) + channel;
      add_values<N, C>(scratch_, v, args_.kv.padded_width, block, acc);
    }
    for (int n = 0; n < N; ++n) {
      for (int c = 0; c < C; ++c) {
        const uint64_t at = channel + static_cast<uint64_t>(c) * kLanes;
        const uint64_t rest = args_.kv.head_width - at;
        const f32x16 y = div(acc[n][c], splat(sum_[n]));
        if (rest >= kLanes) {
          store(out_[n] + at, y);
        } else {
          store_first(out_[n] + at, y, rest);
        }
      }
    }
  }

 private:
  const AttendArgs& args_;
  uint64_t kv_head_;
  uint64_t row_[N];
  const float* q_[N];
  float* out_[N];
  Scratch scratch_[N];
  f32x16 most_[N];
  float sum_[N];
};

template <int N, typename Element>
Outcome attend_queries(const AttendArgs& args, uint64_t kv_head, uint64_t first) {
  constexpr int kAtOnce = kSums / N;
  const uint64_t n_blocks = (args.n_rows_kv + kLanes - 1) / kLanes;
  Queries<N, Element> queries(args, kv_head, first);
  uint64_t block = 0;
  for (; block + kAtOnce <= n_blocks; block += kAtOnce) {
    if (!queries.template score<kAtOnce>(block)) return Outcome::kNotFinite;
  }
  for (; block < n_blocks; ++block) {
    if (!queries.template score<1>(block)) return Outcome::kNotFinite;
  }
  if (!queries.weigh(n_blocks)) return Outcome::kNothingVisible;
  uint64_t channel = 0;
  for (; channel + kAtOnce * kLanes <= args.kv.padded_width; channel += kAtOnce * kLanes) {
    queries.template mix<kAtOnce>(n_blocks, channel);
  }
  for (; channel < args.kv.padded_width; channel += kLanes)
    queries.template mix<1>(n_blocks, channel);
  return Outcome::kDone;
}

template <typename Element>
Outcome attend_items(const AttendArgs& args, Range items) {
  const uint64_t pairs = args.n_pairs();
  const uint64_t tiles = (pairs + args.tile - 1) / args.tile;
  Outcome outcome = Outcome::kDone;
  for (uint64_t item = items.begin; item < items.end && outcome == Outcome::kDone;
       item += args.step) {
    const uint64_t kv_head = item / tiles;
    uint64_t first = item % tiles * args.tile;
    const uint64_t end = first + args.tile < pairs ? first + args.tile : pairs;
    for (; first + kTogether <= end && outcome == Outcome::kDone; first += kTogether) {
      outcome = attend_queries<kTogether, Element>(args, kv_head, first);
    }
    for (; first < end && outcome == Outcome::kDone; ++first) {
      outcome = attend_queries<1, Element>(args, kv_head, first);
    }
  }
  return outcome;
}

}  // namespace

Outcome attend(const AttendArgs& args, Range items) {
  return args.kv.is_f16 != 0 ? attend_items<f16>(args, items) : attend_items<float>(args, items);
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
